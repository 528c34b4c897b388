"""Baselines without a network: the more frequent label, and logistic regression on n-grams."""

from typing import Any

from ..text.encoding import clean
from ..text.tokenizers import tokenizer

BASELINES = ("majority", "tfidf")


def baseline(name: str, tokenizer_name: str) -> Any:
    """Return one of BASELINES by scikit-learn: always the more frequent label, or logistic regression on TF-IDF.

    TF-IDF of tokens (1- and 2-grams) and of characters (1- to 4-grams): Wang & Manning 2012 (ACL) found such n-grams
    hard to beat on reviews.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    if name == "majority":
        return DummyClassifier(strategy="prior")
    shared = {"preprocessor": clean, "lowercase": False, "sublinear_tf": True}
    split_words = tokenizer(tokenizer_name)
    words = TfidfVectorizer(tokenizer=split_words, token_pattern=None, ngram_range=(1, 2), min_df=2, **shared)
    characters = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=3, **shared)
    # more steps change no reported digit
    return make_pipeline(make_union(words, characters), LogisticRegression(C=4, max_iter=60))
