"""The steps that the trainings of all systems share, before the network is made and after it is trained."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, Optional, Union

from ..bundle import Bundle, Layout
from ..machine.aliases import Network, Record
from ..network.parameters import set_parameters
from .checkpoint import Progress
from .description import command, manifest_of
from .initial import Beginning, check_sizes, first_bundle
from .runs import CodecT, ConfigT, Run, network_files


@dataclass
class TaskTraining(Generic[ConfigT, CodecT]):
    """A training of one system in a run; `first` is the bundle whose parameters it begins with, if any."""

    run: Run
    layout: Layout[ConfigT, CodecT]
    config: ConfigT
    presets: Mapping[str, ConfigT]
    init_from: Union[str, Path, None] = None

    def __post_init__(self) -> None:
        self.first = first_bundle(self.init_from, self.layout)
        if self.first:
            check_sizes(self.config, self.first, self.presets)

    def check(self, data: str, digests: Mapping[str, str], **options: object) -> None:
        """Refuse a run folder of other settings, data or digests; say the command of this training, with its options."""
        config, begun = self.config, self.first and self.first.fingerprint
        self.settings = {"task": config.task, "data": data, **digests, "config": config.to_dict(), "init_from": begun}
        self.run.check(self.settings)
        self.command = partial(command, config, self.presets, {"task": config.task, "data": data})
        self.run.say_settings(self.command(init_from=self.init_from, **options))

    def begin(self) -> Optional[Beginning]:
        """Make the run's folder; return what gives a network the first bundle's parameters."""
        from ..engines.graphs import parameters_of

        begin = partial(set_parameters, arrays=parameters_of(self.first)[1]) if self.first else None
        self.run.begin(self.settings)
        return begin

    def write(
        self, network: Network, progress: Progress, figures: Record, data: Record, codec: bytes, **entries: object
    ) -> Bundle[ConfigT, CodecT]:
        """Write the network as the run's bundle, with its codec's file, the figures of the dev part and more `entries`."""
        dev = {"best_epoch": progress.best_epoch + 1, **figures}
        manifest = manifest_of(
            self.config, data, dev, self.command(init_from=self.first and self.first.name), self.first
        )
        contents = {self.layout.codec: codec, **network_files(network, self.config)}
        return self.run.write(self.layout, {**manifest, **entries}, contents)
