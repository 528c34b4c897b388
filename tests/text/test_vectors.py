"""Word vectors from a file: what is read, and each file that is none as one line."""

import gzip
from hashlib import sha256

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.errors import DataError
from nsmc_attention.text.vectors import read_vectors

IDS = {"영화": 5, "정말": 2, "좋다": 7}
words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5)
numbers = st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3)


@given(st.dictionaries(words | st.sampled_from([*IDS]), numbers, min_size=1), st.booleans(), st.sampled_from(["", " "]))
def test_words_of_the_vocabulary_get_their_vectors_with_a_header_or_without(tmp_path_factory, given, header, end):
    path = tmp_path_factory.getbasetemp() / "given.vec"
    given = {**given, "영화": [0.5, -1e-3, 2e5]}
    lines = [f"{len(given)} 3"] * header + [" ".join([word, *map(str, row)]) + end for word, row in given.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    vectors = read_vectors(path, IDS, 3)
    found = {IDS[word]: numpy.array(row, dtype="float32") for word, row in given.items() if word in IDS}
    assert dict(zip(vectors.ids.tolist(), vectors.rows.tolist())) == {i: row.tolist() for i, row in found.items()}
    assert vectors.describe() == {
        "name": "given.vec",
        "sha256": sha256(path.read_bytes()).hexdigest(),
        "words": len(found),
    }


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "given.vec: expected lines of a word and its vector, found 0; is it whole?"),
        ("9 3\n", "given.vec: expected 9, found 0; is it whole?"),
        ("2 3\n영화 1 2 3\n", "given.vec: expected 2, found 1; is it whole?"),
        ("2 300\n영화 1 2 3\n", "line 1: expected vectors of 3 numbers, found 300; give --embedding-size 300"),
        ("영화 1 2\n", "line 1: expected vectors of 3 numbers, found 2; give --embedding-size 2"),
        ("영화 1 2 3\n정말 1 2\n", "line 2: expected vectors of 3 numbers, found 2; mend or leave out the line"),
        ("영화 1 2 3\n\n", "line 2: expected vectors of 3 numbers, found 0; mend or leave out the line"),
        ("영화 1 2 3\n정말 1 2 3\n영화 1 2 3\n", "line 3: expected each word once, found '영화' again; leave one"),
        ("영화 1 2 x\n", "line 1: expected numbers from -1e+06 to 1e+06, found 'x'"),
        ("영화 1 2 nan\n", "line 1: expected numbers from -1e+06 to 1e+06, found 'nan'"),
        ("영화 1 2 1e9\n", "line 1: expected numbers from -1e+06 to 1e+06, found '1e9'"),
        ("movie 1 2 3\n", "given.vec: expected words of the vocabulary, found none; train them on tokens"),
        ("영화 1 2 3\n".encode("cp949"), "given.vec: expected words of the vocabulary, found none"),
        (
            gzip.compress("영화 1 2 3\n".encode(), mtime=0),
            "given.vec: expected text, found a gzip file; unpack it by gunzip",
        ),
        (b"3 3\n" + bytes(range(256)), "given.vec line 2: expected vectors of 3 numbers, found"),
        ("영" * 10**6, "line 1: expected vectors of 3 numbers, found 0"),
    ],
)
def test_a_file_of_no_vectors_is_one_line(tmp_path, content, message):
    path = tmp_path / "given.vec"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as problem:
        read_vectors(path, IDS, 3)
    assert message in str(problem.value) and "\n" not in str(problem.value)


def test_memory_is_that_of_the_vocabulary_however_large_the_file_is(tmp_path):
    import tracemalloc

    path, row = tmp_path / "given.vec", " 0.25" * 3
    path.write_text("영화" + row + "\n" + "".join(f"w{number}{row}\n" for number in range(100_000)), encoding="utf-8")
    tracemalloc.start()
    try:
        assert len(read_vectors(path, IDS, 3).ids) == 1
        assert tracemalloc.get_traced_memory()[1] < 2**20 < path.stat().st_size
    finally:
        tracemalloc.stop()
