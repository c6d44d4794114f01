"""Prepare the small tables shipped in src/probatum/data/tables.

    python tools/vendor_tables.py --keel DIR --islp DIR --modeldata DIR --captions DIR \\
        --out src/probatum/data/tables

DIR of --keel holds KEEL's `NAME.dat` files (comma separated, no header, last column positive or
negative), --islp holds `Default.csv` and `Caravan.csv` of the ISLP package, --modeldata holds
`credit_data.csv` and `attrition.csv` of the R package modeldata, --captions holds
`contest_NNN.csv`, votes per caption of the cartoon caption contest. A folder that is not named is
left out. Writes NAME.csv.gz with the target
last, byte for byte the same on every run, and prints name, size and SHA-256 of each.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
from pathlib import Path

import pandas as pd

ABALONE = "Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight"
YEAST = "mcg gvh alm mit erl pox vac nuc"
# Column names are those of the UCI repository; KEEL's files have none.
KEEL_COLUMNS = {
    "abalone19": ABALONE,
    "abalone9-18": ABALONE,
    "yeast4": YEAST,
    "yeast6": YEAST,
    "ecoli3": "mcg gvh lip chg aac alm1 alm2",
    "page-blocks0": "height length area eccen p_black p_and mean_tr blackpix blackand wb_trans",
    "winequality-red-4": (
        "fixed_acidity volatile_acidity citric_acid residual_sugar chlorides free_sulfur_dioxide "
        "total_sulfur_dioxide density pH sulphates alcohol"
    ),
}


def keel(folder: Path, name: str) -> pd.DataFrame:
    """One KEEL table, with column names and the target called "class"."""
    columns = [*KEEL_COLUMNS[name].split(), "class"]
    table = pd.read_csv(folder / f"{name}.dat", header=None, names=columns, skipinitialspace=True)
    table["class"] = table["class"].str.strip()
    return table


def target_last(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """The table with its target as the last column and without R's row names."""
    table = table.drop(columns=[c for c in ("rownames", "Unnamed: 0") if c in table])
    return table[[c for c in table if c != target] + [target]]


def whole_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Write 129.0 as 129 where a column holds nothing but whole numbers (and gaps)."""
    table = table.copy()
    for column in table.select_dtypes("float"):
        if (table[column].dropna() % 1 == 0).all():
            table[column] = table[column].astype("Int64")
    return table


def captions(folder: Path) -> pd.DataFrame:
    """Votes on the captions of all contests, one under the other."""
    contests = []
    for path in sorted(folder.glob("contest_*.csv")):
        table = pd.read_csv(path)
        table.insert(0, "contest", int(path.stem.removeprefix("contest_")))
        contests.append(table)
    return pd.concat(contests, ignore_index=True)


def write(table: pd.DataFrame, path: Path) -> None:
    """Compress without a time stamp or a file name, so that equal tables give equal bytes."""
    text = whole_numbers(table).to_csv(index=False, lineterminator="\n").encode()
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text)
    path.write_bytes(buffer.getvalue())
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    print(f"{path.name} {len(buffer.getvalue())} bytes {table.shape[0]} rows {digest}")


def main() -> None:
    """Write every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("keel", "islp", "modeldata", "captions"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tables = {name: keel(args.keel, name) for name in KEEL_COLUMNS} if args.keel else {}
    read = {"keep_default_na": False, "na_values": [""]}  # "None" and "NA" are values here
    if args.islp:
        tables["default"] = target_last(pd.read_csv(args.islp / "Default.csv", **read), "default")
        tables["caravan"] = target_last(pd.read_csv(args.islp / "Caravan.csv", **read), "Purchase")
    if args.modeldata:
        credit = pd.read_csv(args.modeldata / "credit_data.csv", **read)
        tables["credit-data"] = target_last(credit, "Status")
        attrition = pd.read_csv(args.modeldata / "attrition.csv", **read)
        tables["attrition"] = target_last(attrition, "Attrition")
    if args.captions:
        tables["caption-contest"] = captions(args.captions)
    for name, table in tables.items():
        write(table, args.out / f"{name}.csv.gz")


if __name__ == "__main__":
    main()
