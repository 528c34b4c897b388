import os

from nsmc_attention.atomic import PREFIX, locked, neighbour, release, sweep, write_text


def test_what_was_swept_before_it_was_locked_is_made_again(tmp_path):
    """As another process may between the two."""
    made = []

    def create():
        path = tmp_path / f"{PREFIX}a.{len(made):08d}"
        path.touch()
        made.append(path)
        if len(made) < 3:
            sweep(tmp_path)
            assert not path.exists()
        return path

    path, held = locked(create)
    assert path == made[2] and path.exists()
    sweep(tmp_path)
    assert path.exists(), "what is held stays"
    release(held)
    sweep(tmp_path)
    assert not path.exists()


def test_a_file_that_took_the_name_is_not_the_one_that_is_held(tmp_path):
    with neighbour(tmp_path / "a") as path:
        held = os.stat(path).st_ino
        sweep(tmp_path)
        assert os.stat(path).st_ino == held
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_replaced_keeps_who_may_read_it(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(0o600)
    write_text(tmp_path / "a", "나")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600 and (tmp_path / "a").read_text(encoding="utf-8") == "나"
