"""Baselines by scikit-learn: the majority, and logistic regression on TF-IDF."""

from typing import Any

from ..text.encoding import clean
from ..text.tokenizers import tokenizer


def majority(tokenizer_name: str) -> Any:
    """Always the more frequent label, whatever the tokens."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def tfidf(tokenizer_name: str) -> Any:
    """Logistic regression on TF-IDF of tokens (1- and 2-grams) and of characters (1- to 4-grams).

    Wang & Manning 2012 (ACL) found such n-grams hard to beat on reviews.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    shared = {"preprocessor": clean, "lowercase": False, "sublinear_tf": True}
    split = tokenizer(tokenizer_name)
    words = TfidfVectorizer(tokenizer=split, token_pattern=None, ngram_range=(1, 2), min_df=2, **shared)
    characters = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=3, **shared)
    # more steps change no reported digit
    return make_pipeline(make_union(words, characters), LogisticRegression(C=4, max_iter=60))


BASELINES = {"majority": majority, "tfidf": tfidf}
