"""Writes golden.jsonl: 200 own sentences and what the packaged bundle says of them.

    python -m tests.golden

To be run when another bundle is packaged, and at no other time: that nothing else changes an answer is what the
file is for (test_pretrained.py).
"""

import json
from pathlib import Path

from benchmarks.classification.behaviour import cases
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc

GOLDEN = Path(__file__).parent / "golden.jsonl"
STRANGE = (
    "ㅋㅋㅋㅋㅋㅋㅋ|ㅠㅠ|!!!|10점|😀👍|good movie|재미\0있다|정말\u200b좋다|정말|뷁|ㅈㅐㅁㅣ|최 고 의 영 화".split("|")
)
STRANGE += ["재미있다 " * 200, "정말재미있는영화인데왜평점이낮은지모르겠네요", "<b>별로</b>", "=SUM(A1)", "映画"]
STRANGE += ["영화.영화,영화!", "a" * 300, "　전각　공백　"]


def main():
    plain = list(dict.fromkeys(case.text for case in cases()))
    texts = [*nsmc.load("sample", "test").documents[:100], *plain[:80], *STRANGE]
    predictions = load_classifier().predict_many(texts)
    lines = [
        {
            "text": text,
            "probability": round(each.probability, 6),
            "tokens": len(each.tokens),
            "token_weights": [round(float(weight), 6) for weight in each.token_weights[:8]],
        }
        for text, each in zip(texts, predictions)
    ]
    GOLDEN.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
