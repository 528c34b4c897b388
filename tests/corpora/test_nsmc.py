from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.errors import DataError

HEAD = "id\tdocument\tlabel\n"


def write(folder, text, encoding="utf-8"):
    path = folder / "reviews.txt"
    path.write_bytes(text.encode(encoding))
    return path


def test_quotes_and_missing_words_are_read_as_they_are_and_only_line_feed_ends_a_row(tmp_path):
    ends = "가\u2028나\x85다\x0b라"
    path = write(tmp_path, HEAD + f'1\t"최고\t1\n2\tNA\t0\n3\tnull\t0\n4\t\t1\n5\t \t0\n6\t{ends}\t1\n')
    assert nsmc.read(path, "reviews").documents == ['"최고', "NA", "null", "", " ", ends]


def test_a_file_is_described_by_its_name_hash_and_blank_duplicate_and_conflicting_rows(tmp_path):
    path = write(tmp_path, HEAD + "1\t가\t1\n2\t가\t0\n3\t가\t1\n4\t나\t1\n5\t나\t1\n6\t\t0")
    counts, found = {"rows": 6, "positive": 4, "blank": 1, "duplicate": 3, "conflicting": 3}, nsmc.read(path, "mine")
    assert found.describe() == {"name": "mine", "sha256": sha256(path.read_bytes()).hexdigest(), **counts}
    assert found.counts() == counts and len(found) == 6


def test_a_file_that_is_not_the_official_one_is_refused(tmp_path):
    (tmp_path / "ratings_test.txt").write_text(HEAD + "1\t가\t1\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected the official file with sha256 8ac9f64052f1…"):
        nsmc.find("test", tmp_path)


def test_the_official_files_have_the_published_counts(nsmc_folder):
    train, test = (nsmc.load("nsmc", part).counts() for part in ("train", "test"))
    assert (train["rows"], train["positive"], train["blank"]) == (150000, 74827, 5)
    assert (test["rows"], test["positive"], test["blank"]) == (50000, 25173, 3)


@pytest.fixture
def whole_sample(monkeypatch):
    """The sample as users have it, in place of the part of it that the other tests read."""
    monkeypatch.delenv("NSMC_ATTENTION_SAMPLE")


def test_the_sample_is_balanced_and_its_parts_share_no_text(whole_sample):
    train, test = nsmc.load("sample", "train"), nsmc.load("sample", "test")
    assert len(train) >= 5000 and len(test) >= 400
    assert train.labels.mean() == test.labels.mean() == 0.5
    assert not set(train.documents) & set(test.documents)
    assert all(part.counts()["duplicate"] == part.counts()["blank"] == 0 for part in (train, test))


def test_no_line_of_the_sample_comes_from_the_corpus(whole_sample, nsmc_folder):
    sample, official = (
        {"".join(text.split()) for part in ("train", "test") for text in nsmc.load(name, part).documents}
        for name in ("sample", "nsmc")
    )
    assert not sample & official


@pytest.fixture
def address(tmp_path):
    """Of a server in this process that has a file `ratings_test.txt`."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "ratings_test.txt").write_text(HEAD + "1\t가\t1\n", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def test_a_download_is_kept_only_if_it_is_the_expected_file(address, tmp_path):
    content = (HEAD + "1\t가\t1\n").encode()
    right, wrong = sha256(content).hexdigest(), sha256(b"").hexdigest()
    for expected in (right, None):
        path = nsmc.download("a.txt", address + "ratings_test.txt", expected, tmp_path / "deep" / "er")
        assert path == tmp_path / "deep" / "er" / "a.txt" and path.read_bytes() == content
        path.unlink()
    with pytest.raises(DataError, match="SHA256 hash of downloaded file .a.txt. does not match"):
        nsmc.download("a.txt", address + "ratings_test.txt", wrong, tmp_path / "new")
    with pytest.raises(DataError, match="the download from .* failed .HTTPError"):
        nsmc.download("a.txt", address + "none.txt", None, tmp_path / "new")
    assert not list((tmp_path / "new").iterdir())


def test_a_corpus_is_looked_for_where_it_is_said_to_be(tmp_path, monkeypatch, address):
    monkeypatch.setenv("NSMC_ATTENTION_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NSMC_ATTENTION_CACHE", str(tmp_path / "cache"))
    assert nsmc.folders(None) == [tmp_path / "data", tmp_path / "cache"]
    assert nsmc.folders(tmp_path) == [tmp_path]
    monkeypatch.setattr(nsmc, "ADDRESS", address)
    monkeypatch.setitem(nsmc.SHA256, "test", sha256((HEAD + "1\t가\t1\n").encode()).hexdigest())
    assert nsmc.find("test") == tmp_path / "cache" / "ratings_test.txt"
    monkeypatch.setattr(raw, "ADDRESS", address + "ratings_test.txt")
    assert raw.find() == tmp_path / "cache" / raw.ARCHIVE
    raw.find().unlink()
    assert nsmc.load("nsmc", "test").documents == ["가"] and nsmc.load("nsmc", "test").name == "nsmc"
    (tmp_path / "data").mkdir()
    (tmp_path / "cache" / "ratings_test.txt").rename(tmp_path / "data" / "ratings_test.txt")
    assert nsmc.find("test") == tmp_path / "data" / "ratings_test.txt"
    assert not list((tmp_path / "cache").iterdir())
    monkeypatch.delenv("NSMC_ATTENTION_DATA")
    monkeypatch.delenv("NSMC_ATTENTION_CACHE")
    assert [folder.name for folder in nsmc.folders(None)] == ["nsmc_attention"]
