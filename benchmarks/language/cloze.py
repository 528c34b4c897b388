"""Share of hidden words that a language model guesses, compared with a two-sided n-gram model: docs/language.md.

    NSMC_ATTENTION_DATA=... python -m benchmarks.language.cloze BUNDLE [--reviews 10000]

One word is hidden in each of --reviews reviews of the official test file. The n-gram model counts the texts of
`train --task language --data nsmc` with the bundle's vocabulary; it interpolates from two words on both sides down to none
(Witten & Bell 1991). Then the same word and the next one are hidden, and guessed separately or, as in `fill`, one after the
other. The last part has fifteen sentences that are in no review, with acceptable words that were fixed before any test.
"""

import argparse
import os
from collections.abc import Iterator, Sequence

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Texts
from nsmc_attention.systems.language.model import MASK, LanguageModel, load_language_model
from nsmc_attention.systems.language.train import read_reviews
from nsmc_attention.text.encoding import clean, tokenize_many

# Places of the context, from the most particular to the most general
CONTEXTS = ((-2, -1, 1, 2), (-2, -1, 1), (-1, 1, 2), (-1, 1), (-2, -1), (1, 2), (-1,), (1,), ())
# Bits of a token id; ids beyond the text
BITS, EDGE = 14, 1
SENTENCES = {
    "주인공의 [MASK]에 소름이 돋았다": "연기 연기력 눈빛 목소리 표정 광기 모습 대사 매력",
    "감독의 다음 [MASK]이 기대된다": "작품 영화 편 작",
    "엔딩 [MASK]이 올라갈 때까지 일어나지 못했다": "크레딧 자막 음악 곡 노래",
    "너무 슬퍼서 [MASK]을 멈출 수가 없었다": "눈물 울음 숨",
    "돈과 [MASK]이 아까운 영화였다": "시간 기름 표값",
    "어릴 때 [MASK]와 함께 극장에서 봤던 영화": "친구 엄마 아빠 가족 언니 누나 오빠",
    "배경 [MASK]이 정말 아름다웠어요": "음악 화면 영상 그림",
    "스토리는 별로지만 [MASK]은 화려하다": "액션 영상 화면 그래픽 cg CG 장면 볼거리 출연진 캐스팅",
    "처음부터 끝까지 [MASK]을 늦출 수 없는 스릴러": "긴장 긴장감 눈 숨 한눈",
    "두 번 봐도 [MASK] 않는 명작": "지루하 질리 아깝 지겹 후회하 지루 질리지 아깝지",
    "원작 [MASK]을 먼저 읽고 봤는데 실망했다": "소설 책 만화 웹툰",
    "아이들과 함께 보기에 딱 [MASK] 애니메이션": "좋 좋은 맞 적당한 괜찮은 알맞 맞는 재밌는 재미있는",
    "이 배우가 나오는 [MASK]는 다 챙겨 본다": "영화 드라마 거 건 프로",
    "반전이 [MASK] 못한 내용이라 놀랐다": "예상 생각 상상 예측 생각하지 상상하지",
    "졸려서 [MASK]에 잠들어 버렸다": "중간 도중 중반 초반 극장 영화관 순식간",
}


def main(bundle: str, reviews: int) -> None:
    model = load_language_model(bundle or None)
    ids, places = hidden(model, reviews)
    wanted = numpy.array([row[place] for row, place in zip(ids, places)])
    print("| model | first guess | first five | perplexity |\n|---|---|---|---|")
    for name, found in (
        ("n-grams of both sides", ngrams(model, ids, places)),
        ("language model", asked(model, ids, places)),
    ):
        ranks, chances = (numpy.array(each) for each in zip(*judged(found, wanted)))
        shares = f"{100 * (ranks < 1).mean():.2f} % | {100 * (ranks < 5).mean():.2f} %"
        print(f"| {name} | {shares} | {numpy.exp(-numpy.log(chances).mean()):.1f} |", flush=True)
    found = numpy.mean([*pairs_found(model, ids, places)], axis=0)
    print("both of two words: each alone {:.2%}, one after the other {:.2%}".format(*found), flush=True)
    right = 0
    for text, acceptable in SENTENCES.items():
        tokens = [each.token for each in model(text, 5).candidates]
        good = not set(acceptable.split()).isdisjoint(tokens)
        right += good
        print(f"{'yes' if good else 'no'}\t{text}\t{' '.join(tokens)}")
    print(f"{right} of {len(SENTENCES)} sentences have an acceptable word among the first five")


def hidden(model: LanguageModel, reviews: int) -> tuple[list[list[int]], list[int]]:
    """Return the ids of reviews of the official test file, and of each the place of the token that is to be guessed."""
    texts = list(dict.fromkeys(filter(None, map(clean, nsmc.load("nsmc", "test").documents))))
    random = numpy.random.RandomState(1)
    unknown = model.encoder.unknown
    rows, places = list[list[int]](), list[int]()
    for place in random.permutation(len(texts)).tolist():
        ids = model.encoder.encode(texts[place]).ids
        known = [number for number, each in enumerate(ids) if each != unknown]
        # a word alone has nothing that it could be guessed from
        if len(ids) > 1 and known and len(rows) < reviews:
            rows.append(list(ids))
            places.append(known[random.randint(len(known))])
    return rows, places


def judged(found: Iterator[numpy.ndarray], wanted: numpy.ndarray) -> Iterator[tuple[int, float]]:
    """Yield the rank of each right token, 0 the first, and its probability."""
    for probability, right in zip(found, wanted):
        yield int((probability > probability[right]).sum()), float(probability[right])


def asked(model: LanguageModel, ids: Sequence[list[int]], places: Sequence[int]) -> Iterator[numpy.ndarray]:
    """Yield the model's probabilities (V,) at each place."""
    mask = model.encoder.token_to_idx[MASK]
    for row, place in zip(ids, places):
        shown = numpy.array([[*row[:place], mask, *row[place + 1 :]]], dtype="int32")
        yield model.engine(shown, numpy.array([len(row)], dtype="int32"), numpy.array([place], dtype="int32"))[0][0]


def pairs_found(model: LanguageModel, ids: Sequence[list[int]], places: Sequence[int]) -> Iterator[tuple[bool, bool]]:
    """Yield whether the token at each place and the next are both guessed: each by itself, and one after the other."""
    mask = model.encoder.token_to_idx[MASK]
    for row, place in zip(ids, places):
        pair = {each: row[each] for each in (place, place + 1) if each < len(row)}
        if len(pair) == 2 and model.encoder.unknown not in pair.values():
            shown, filled = [mask if each in pair else number for each, number in enumerate(row)], dict[int, int]()
            alone = dict(zip(pair, model.guess(shown, [*pair])[0].argmax(axis=1).tolist()))
            model.fill_rest(shown, [*pair], filled)
            yield alone == pair, filled == pair


def ngrams(model: LanguageModel, ids: Sequence[list[int]], places: Sequence[int]) -> Iterator[numpy.ndarray]:
    """Yield the n-gram model's probabilities (V,) at each place."""
    encoder = model.encoder
    texts = list(dict.fromkeys(filter(None, map(clean, read_reviews(Texts("nsmc"))[1]))))
    words = tokenize_many(texts, encoder.tokenizer_name)
    edge = [EDGE, EDGE]
    text = numpy.array([each for row in words for each in (*encoder.encode_words(row).ids, *edge)], dtype="int64")
    text = numpy.concatenate([edge, text])
    middle = numpy.flatnonzero(text != EDGE)
    around = [numpy.array([*edge, *row, *edge]) for row in ids]
    size = len(encoder)
    unigram = (numpy.bincount(text[middle], minlength=size) + 1.0) / (len(middle) + size)
    tables = []
    for context in CONTEXTS[:-1]:
        asked_for = numpy.array([key(row, numpy.array([place + 2]), context)[0] for row, place in zip(around, places)])
        keys = key(text, middle, context)
        kept = numpy.isin(keys, asked_for)
        found, counts = numpy.unique(numpy.stack([keys[kept], text[middle[kept]]]), axis=1, return_counts=True)
        tables.append((asked_for, found[0], found[1], counts))
    for number in range(len(ids)):
        probability = unigram
        for asked_for, keys, tokens, counts in reversed(tables):
            start, stop = (
                numpy.searchsorted(keys, asked_for[number], "left"),
                numpy.searchsorted(keys, asked_for[number], "right"),
            )
            if start < stop:
                # as many chances for what was never seen here as there were different tokens
                whole, kinds = counts[start:stop].sum(), stop - start
                probability = probability * (kinds / (whole + kinds))
                probability[tokens[start:stop]] += counts[start:stop] / (whole + kinds)
        yield probability


def key(text: numpy.ndarray, places: numpy.ndarray, context: Sequence[int]) -> numpy.ndarray:
    """Return one number for what stands around each place."""
    found = numpy.zeros(len(places), dtype="int64")
    for step in context:
        found = (found << BITS) + text[places + step]
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", nargs="?", default="")
    parser.add_argument("--reviews", type=int, default=10_000)
    main(**vars(parser.parse_args()))
