import pytest

from nsmc_attention.config import PRESETS, Config, all_fields, preset
from nsmc_attention.errors import ConfigError


@pytest.mark.parametrize("name", PRESETS)
def test_a_config_survives_its_dict(name):
    assert Config.from_dict(preset(name).to_dict()) == preset(name)


def test_field_names_are_unique_across_the_parts():
    assert len(all_fields()) == sum(len(vars(part)) for part in Config().parts().values())


@pytest.mark.parametrize(
    "values, message",
    [
        ({"model": {"hiden_size": 3}}, r"unknown key 'hiden_size' in model; did you mean 'hidden_size'\?"),
        ({"modle": {}}, r"unknown key 'modle' in config; did you mean 'model'\?"),
        ({"model": {"hidden_size": 0}}, r"model.hidden_size: expected from 1 to 4096, found 0"),
        ({"model": {"hidden_size": "8"}}, r"model.hidden_size: expected int, found '8'"),
        ({"model": {"dropout": 1.0}}, r"model.dropout: expected from 0.0 to 0.95, found 1.0"),
        ({"model": {"dropout": float("nan")}}, r"model.dropout: expected"),
        ({"model": {"attention": "additve"}}, r"unknown value 'additve'; did you mean 'additive'\?"),
        ({"model": {"attention": "multihead", "hidden_size": 9}}, r"a divisor of 18, the units of a state, found 4"),
        (
            {**preset("post").to_dict(), "model": {**preset("post").to_dict()["model"], "attention": "dot"}},
            r"model.attention: the architecture post has 'additive'",
        ),
        ({"text": {"ngram_buckets": 1}}, r"text.ngram_buckets: expected 0 or at least 2, found 1"),
        ({"training": {"epochs": 10**400}}, r"training.epochs: expected at most 1000000000, found 1000"),
        ({"training": {"learning_rate": 10**400}}, r"training.learning_rate: expected at most 1000000000, found 1000"),
        (
            {"text": {"max_length": 1024}, "model": {"attention_units": 129}},
            r"text.max_length: expected scores of at most 134,217,728 numbers for a review, found 135,266,304",
        ),
        (
            {
                "text": {"max_length": 1024},
                "model": {"attention": "multihead", "hidden_size": 1024, "attention_heads": 2048},
            },
            r"expected scores of at most 134,217,728 numbers for a review, found 2,147,483,648",
        ),
        ({"text": []}, r"text: expected named settings, found list"),
    ],
)
def test_impossible_settings_are_refused_with_the_place(values, message):
    with pytest.raises(ConfigError, match=message):
        Config.from_dict(values)


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown preset 'defualt'; did you mean 'default'\?"):
        preset("defualt")


def test_with_fields_changes_only_what_is_named():
    changed = Config().with_fields(hidden_size=7)
    assert changed.model.hidden_size == 7 and changed.with_fields(hidden_size=128) == Config()
    with pytest.raises(ConfigError, match="did you mean 'batch_size'"):
        Config().with_fields(batchsize=3)


def test_every_whole_number_has_an_upper_bound():
    for name, item in all_fields().items():
        if item.type in (int, float):
            with pytest.raises(ConfigError, match=f"{name}: expected"):
                Config().with_fields(**{name: 10**400})
