from nsmc_attention.bundle import load_bundle
from nsmc_attention.card import contract, model_card
from nsmc_attention.config import PRESETS
from nsmc_attention.preprocessing import ngrams


def test_the_packaged_card_is_what_its_manifest_gives():
    bundle = load_bundle()
    assert (bundle.folder / "README.md").read_text(encoding="utf-8") == model_card(bundle.manifest)


def test_the_contract_names_the_numbers_that_the_code_uses():
    bundle = load_bundle()
    text = "\n".join(contract(bundle.manifest["config"]["text"], bundle.manifest))
    for constant in (ngrams.SEED, ngrams.STEP, ngrams.LAST):
        assert f"0x{int(constant):X}" in text
    assert f"(N, T, {ngrams.NGRAMS})" in text and f"[{ngrams.FIRST} + k]" in text
    assert f"mod {bundle.config.text.ngram_buckets - 1} + 1" in text
    assert f"the first {bundle.config.text.max_length}" in text


def test_the_contract_asks_for_no_more_than_the_model_reads():
    for name, config in PRESETS.items():
        manifest = {"config": config.to_dict(), "tokenizer_version": "mecab"}
        text = "\n".join(contract(manifest["config"]["text"], manifest))
        assert ("ngram_ids" in text) == bool(config.text.ngram_buckets), name
        assert ("pieces" in text) == (config.text.rare_words == "pieces"), name
        assert ("padded to exactly 30" in text) == (name == "post"), name
