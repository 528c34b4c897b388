import pytest
import yaml

from nsmc_attention import registry
from nsmc_attention.bundle import load_bundle, model_card
from nsmc_attention.classifier.settings import LAYOUT, PRESETS


@pytest.mark.parametrize("system", registry.SYSTEMS)
def test_the_packaged_cards_are_what_their_manifests_give(system):
    layout = registry.SYSTEMS[system].layout
    for bundle in (load_bundle(folder, layout) for folder in layout.packaged):
        assert bundle.read("README.md").decode() == model_card(layout, bundle.manifest)


def card_of(**changes):
    return model_card(LAYOUT, {**load_bundle(None, LAYOUT).manifest, **changes})


NAMES = ["nsmc", "reviews-2.csv", "[영화] 리뷰.csv", "a #1.csv", "리뷰: 2024.csv", "1.csv", "-.csv"]
NAMES += ['"a", b.csv', "{a}.csv", "a\\b.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_the_front_matter_names_the_data_whatever_their_name(name):
    data = load_bundle(None, LAYOUT).manifest["data"]
    _, front, _ = card_of(data={**data, "train": {**data["train"], "name": name}}).split("---\n", 2)
    assert yaml.safe_load(front)["datasets"] == [name]


@pytest.mark.parametrize("name", PRESETS)
def test_the_card_tells_what_the_network_is_and_reads(name):
    config = PRESETS[name]
    card, kind = card_of(config=config.to_dict()), config.model.attention.kind
    assert ("bidirectional GRU" in card) == (name != "average")
    assert ("self-attenti" in card) == (f"{kind} score" in card) == (kind != "uniform")
    assert ("ngram_ids" in card) == bool(config.text.ngram_buckets)
    assert ("pieces" in card) == (config.text.rare_words == "pieces")
    assert ("padded to exactly 30" in card) == (name == "post")
    assert ("`contributions` (N, T) float32" in card) == ("contributions" in config.model.outputs)
    assert "<!--" not in card
    # a tokenizer without a version is named
    config = config.with_fields(tokenizer="characters").to_dict()
    assert "over tokens of characters." in card_of(config=config, tokenizer_version="")


def test_the_card_says_what_the_rows_of_the_weights_are():
    card = card_of(config=PRESETS["default"].with_fields(attention="structured", attention_hops=3).to_dict())
    assert "(structured, 3 hops)" in card
    assert "`weights` (N, 3, T) float32: row i has the attention weights of hop i." in card
