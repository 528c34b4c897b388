"""`python -m nsmc_attention` is the command `nsmc-attention`."""

from .cli import main

if __name__ == "__main__":
    main()
