"""An editor's bundle gets new junctions whatever it had: the way out that the error about an older version names."""

import json
from pathlib import Path

from nsmc_attention.systems.restoration.junctions import Junctions, RestorerCharacters
from recipes.junctions import with_junctions


def test_junctions_of_an_older_version_are_replaced(tmp_path: Path) -> None:
    junctions = Junctions.of({7: 20}, 0.5, -2.0)
    old = {"characters": [" ", "가"], "junctions": {"hashes": "", "weights": "", "junction": 0.5, "inside": -2.0}}
    (tmp_path / "vocab.json").write_text(json.dumps(old, ensure_ascii=False), encoding="utf-8")
    assert RestorerCharacters.from_json(with_junctions(tmp_path, junctions)) == RestorerCharacters(
        (" ", "가"), junctions
    )
