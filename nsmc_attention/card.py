"""The model card that a bundle carries, written from its manifest alone."""


def model_card(manifest):
    """Answer the card as Markdown with YAML front matter, as model hubs read it."""
    config, data = manifest["config"], manifest["data"]
    rows = [f"| {part} | {100 * found['accuracy']:.2f} % | {found['f1']:.4f} | {found['log_loss']:.4f} "
            f"| {found['ece']:.4f} |" for part, found in manifest["metrics"].items()]
    return "\n".join([
        "---",
        "language: ko",
        "license: mit",
        "library_name: nsmc_attention",
        "pipeline_tag: text-classification",
        f"datasets: [{data['train']['name']}]",
        "metrics: [accuracy, f1]",
        "---",
        "",
        "# Korean film-review sentiment with self-attention",
        "",
        f"A self-attentive bidirectional GRU ({config['model']['architecture']} architecture, "
        f"{config['model']['attention']} score) over tokens of {manifest['tokenizer_version'] or 'characters'}.",
        f"Learned from {data['train']['used']:,} reviews of {data['train']['name']} "
        f"(sha256 `{data['train']['sha256'][:16]}…`); the epoch was chosen on {data['dev']['used']:,} others.",
        "",
        "| part | accuracy | F1 | log loss | ECE |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Made again by:",
        "",
        f"    {manifest['command']}",
        "",
        "Limits: short film reviews as Korean viewers write them; irony, other domains and other languages were not",
        "measured. Attention weights show where the model looks, which is not always why it answers as it does.",
        "",
    ])
