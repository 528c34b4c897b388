"""Run the notebooks and save their outputs in them, without what changes from run to run.

python notebooks/run.py [NAME.ipynb ...]     (pip install -e '.[notebook,test]')
"""

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

HERE = Path(__file__).parent
# Addresses of objects and names of temporary folders
CHANGING = [(re.compile(r" at 0x[0-9a-f]+"), ""), (re.compile(r"/\S*/tmp\w+"), "FOLDER")]


def main(names: list[str]) -> None:
    for path in tqdm([HERE / name for name in names] or sorted(HERE.glob("*.ipynb"))):
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(
            notebook, timeout=1200, record_timing=False, resources={"metadata": {"path": str(HERE)}}
        )
        client.execute()
        for cell in notebook.cells:
            if cell.cell_type == "code":
                # progress bars and warnings
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
                for output in cell.outputs:
                    for holder, name in ((output, "text"), (output.get("data", {}), "text/plain")):
                        for pattern, constant in CHANGING if name in holder else ():
                            holder[name] = pattern.sub(constant, holder[name])
        notebook.metadata.pop("widgets", None)
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
