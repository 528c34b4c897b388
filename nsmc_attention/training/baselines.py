"""Baselines by scikit-learn: the majority, and logistic regression on TF-IDF."""

from typing import Any

from numpy.typing import NDArray

from ..text.encoding import clean
from ..text.tokenizers import tokenizer


def majority(tokenizer_name: str = "mecab") -> Any:
    """Always the more frequent label, whatever the tokens."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def tfidf(tokenizer_name: str = "mecab") -> Any:
    """Logistic regression on TF-IDF of tokens (1- and 2-grams) and of characters (1- to 4-grams).

    Wang & Manning 2012 (ACL) found such n-grams hard to beat on reviews.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    words = TfidfVectorizer(
        preprocessor=clean,
        tokenizer=tokenizer(tokenizer_name),
        token_pattern=None,
        lowercase=False,
        ngram_range=(1, 2),
        sublinear_tf=True,
        min_df=2,
    )
    characters = TfidfVectorizer(
        preprocessor=clean, analyzer="char", lowercase=False, ngram_range=(1, 4), sublinear_tf=True, min_df=3
    )
    # more steps change no reported digit
    return make_pipeline(make_union(words, characters), LogisticRegression(C=4, max_iter=60))


BASELINES = {"majority": majority, "tfidf": tfidf}


def probabilities(
    name: str, documents: list[str], labels: NDArray[Any], others: list[list[str]], tokenizer_name: str = "mecab"
) -> list[NDArray[Any]]:
    """Fit a baseline and score lists of reviews.

    Parameters
    ----------
    name : "majority" or "tfidf"
    documents : list of str
    labels : (N,) of 0 and 1
    others : list of lists of str
    tokenizer_name : str

    Returns
    -------
    list of (M,) float64, the probability of positive for each review of each list
    """
    model = BASELINES[name](tokenizer_name).fit(documents, labels)
    return [model.predict_proba(each)[:, 1] for each in others]
