import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from nsmc_attention.classifier.settings import PRESETS, Config, StarsConfig, TrainingConfig, preset
from nsmc_attention.errors import ConfigError
from nsmc_attention.network.attention import ATTENTIONS, Dot, General
from nsmc_attention.registry import SYSTEMS
from nsmc_attention.schema import SHORT_NAMES, paths
from nsmc_attention.systems.restore.settings import RESTORE_PRESETS, RestoreConfig
from nsmc_attention.training.task import nearest_preset


def group_of(values, path):
    """Return the dict within nested ones that has the last name of a path, and this name."""
    *sections, name = path.split(".")
    for key in sections:
        values = values[key]
    return values, name


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("model.encoder.hiden_size", 3, r"unknown key 'hiden_size' in model.encoder; did you mean 'hidden_size'\?"),
        ("modle", {}, r"unknown key 'modle' in config; did you mean 'model'\?"),
        ("model.encoder.hidden_size", 0, r"model.encoder.hidden_size: expected from 1 to 4096, found 0"),
        ("model.encoder.hidden_size", "8", r"model.encoder.hidden_size: expected int, found '8'"),
        ("model.embedding_size", True, r"model.embedding_size: expected int, found True"),
        ("model.dropout", 1.0, r"model.dropout: expected from 0.0 to 0.95, found 1.0"),
        ("model.dropout", float("nan"), r"model.dropout: expected"),
        ("model.attention", {"kind": "additve"}, r"expected a kind, found 'additve'; did you mean 'additive'\?"),
        ("model.attention", {"kind": ["dot"]}, r"model.attention: expected a kind, found \['dot'\]"),
        ("model.attention", {"kind": "dot", "dropout": 0.0, "units": 4}, r"unknown key 'units' in model.attention"),
        ("model.attention", {"kind": "multihead", "dropout": 0.0, "heads": 3}, r"a divisor of 256, .* found 3"),
        ("model.attention", {"kind": "dot"}, r"model.attention.dropout: expected a value, found none"),
        ("model", {"kind": "article", "embedding_size": 4, "hidden_size": 4}, r"model.kind article: expected text.ng"),
        ("text.ngram_buckets", 1, r"text.ngram_buckets: expected 0 or at least 2, found 1"),
        ("training.labels.epochs", 10**400, r"training.labels.epochs: expected at most 1000000000, found 1000"),
        ("text", [], r"text: expected named settings, found list"),
        ("training", None, r"training: expected named settings, found NoneType"),
    ],
)
def test_impossible_settings_are_refused_with_their_path(path, value, message):
    values = Config().to_dict()
    group, name = group_of(values, path)
    group[name] = value
    with pytest.raises(ConfigError, match=message):
        Config.from_dict(values)


# one that is newer than the bundles of the last release has the value that these were trained with
@pytest.mark.parametrize("path", [path for path, _ in paths(Config()) if path != "text.symbols"])
def test_no_setting_may_be_missing(path):
    values = Config().to_dict()
    group, name = group_of(values, path)
    del group[name]
    with pytest.raises(ConfigError, match="expected a (value|kind), found (none|None)"):
        Config.from_dict(values)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"max_length": 1024, "attention_units": 129}, r"at most 134,217,728 numbers a review, found 135,266,304"),
        ({"attention": "dot", "attention_units": 3}, r"model.attention.units: unknown setting 'units' of the kind dot"),
        ({"attention": "multihead", "values": "convolution"}, "expected one weight a token, found the heads of multi"),
        ({"values": "convolution", "window": 4}, "model.values.window: expected an odd number.*found 4"),
        ({"encoder": "none", "hidden_size": 3}, r"unknown setting 'hidden_size' of the kind none"),
        ({"batchsize": 3}, "did you mean 'batch_size'"),
        ({"model.encoder": 3}, "model.encoder: encoder is a group of settings, not a single value"),
        ({"model.encoder.kind": "lstm"}, "model.encoder.kind: unknown kind 'lstm'; known: gru, none"),
        ({"model.dropout.x": 3}, "model.dropout.x: dropout is a single value, not a group of settings"),
        ({"training.labels.epochs": "many"}, "training.labels.epochs: expected int, found 'many'"),
    ],
)
def test_impossible_changes_are_refused_with_their_path(changes, message):
    with pytest.raises(ConfigError, match=message):
        Config().with_fields(**changes)


def test_a_new_kind_begins_with_its_defaults_and_takes_changes_in_any_order():
    config = Config().with_fields(attention_heads=8, attention="multihead", hidden_size=16)
    assert config.model.attention == ATTENTIONS["multihead"](heads=8)
    assert config.with_fields(attention="additive", hidden_size=128) == Config()
    # a field may declare its own; a short name means the setting that the network has
    language = SYSTEMS["language"].preset("gru")
    assert language.with_fields(encoder="transformer") == SYSTEMS["language"].preset("transformer")
    assert preset("post").with_fields(hidden_size=7).model.hidden_size == 7
    assert Config().with_fields(hidden_size=7).model.encoder.hidden_size == 7


def test_of_older_bundles_a_setting_that_is_gone_is_ignored_and_a_new_one_has_the_value_that_they_had():
    config, older = Config().with_fields(values="convolution"), RESTORE_PRESETS["writer"].to_dict()
    without = config.to_dict()
    del without["model"]["values"]["signed"]
    assert Config.from_dict(without) == config
    older["model"]["attention"] = {"kind": "general", "dropout": 0.0}
    older["training"]["sampling"] = 0.5
    assert RestoreConfig.from_dict(older) == RESTORE_PRESETS["writer"]


@pytest.mark.parametrize("name", [name for name in SHORT_NAMES if name not in ("attention", "encoder", "values")])
def test_every_number_has_an_upper_bound(name):
    kinds = {"attention_heads": "multihead", "attention_hops": "structured", "attention_penalty": "structured"}
    with pytest.raises(ConfigError, match="expected|unknown value"):
        Config().with_fields(attention=kinds.get(name, "additive"), values="convolution", **{name: 10**400})


def test_settings_that_fit_only_together_can_be_changed_together():
    """The heads divide the decoder's units; those of the preset are no multiple of 5."""
    writer = SYSTEMS["restore"].preset("writer")
    with pytest.raises(ConfigError, match="model.decoder.heads: expected a divisor of 56"):
        writer.with_fields(**{"model.decoder.heads": 5})
    config = writer.with_fields(**{"model.decoder.heads": 5, "model.decoder.units": 60})
    name, changes = nearest_preset(config, RESTORE_PRESETS)
    assert name == "writer" and sorted(changes[1::2]) == ["model.decoder.heads=5", "model.decoder.units=60"]


def test_settings_are_values_that_do_not_change():
    config = PRESETS["extended"]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'seed'"):
        TrainingConfig().seed = 1
    for same in (copy.deepcopy(config), pickle.loads(pickle.dumps(config)), replace(config)):
        assert same == config and hash(same) == hash(config) and repr(same) == repr(config)
    others = [replace(config, training=TrainingConfig()), *(each for each in PRESETS.values() if each is not config)]
    # kinds differ where their fields do not
    assert config not in others and Dot() != General()
    assert repr(StarsConfig(1)) == "StarsConfig(epochs=1, learning_rate=0.002)"


@pytest.mark.parametrize(("arguments", "named"), [((1, 0.1, 3), {}), ((1,), {"epochs": 1}), ((), {"epoch": 1})])
def test_settings_take_each_field_once_and_no_other(arguments, named):
    assert StarsConfig(1, learning_rate=0.1) == StarsConfig(epochs=1, learning_rate=0.1) == StarsConfig(1, 0.1)
    with pytest.raises(TypeError, match="StarsConfig: expected each of epochs, learning_rate at most once, found"):
        StarsConfig(*arguments, **named)
