"""`bulk`: files of any size on Dask."""
