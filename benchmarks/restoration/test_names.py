"""The names of the benchmark for restorers, without running a restorer."""

from collections import Counter

from benchmarks.restoration.names import KINDS, has_letters, read

NAMES = read()
# their form depends on the last letter of a name
OF_TWO_FORMS = tuple(f"{particle} " for particle in "은는이가을를과와로")


def test_names_are_300_different_ones_of_films_and_people_half_of_them_korean():
    assert len({each.name.replace(" ", "") for each in NAMES}) == len(NAMES) == 300
    assert set(Counter((each.kind, each.origin) for each in NAMES).values()) == {75}
    assert all(each.name == " ".join(each.name.split()) and int(each.reviews) >= 2 for each in NAMES)


def test_a_dozen_sentences_of_each_kind_have_the_name_once_and_whatever_it_ends_in():
    for frames in KINDS.values():
        assert len(set(frames)) == 12
        for frame in frames:
            assert frame.count("{}") == 1 and frame == " ".join(frame.split())
            assert not frame.partition("{}")[2].startswith(OF_TWO_FORMS)


def test_letters_are_kept_whatever_the_spaces_and_not_where_one_is_another():
    for name, sentence in ((each.name, sentence) for each in NAMES for sentence in each.sentences):
        assert name in sentence and has_letters(name, sentence.replace(" ", ""))
        assert not has_letters(name, sentence.replace(name, name[:-1] + "뷁"))
