"""Parquet with logical types, as pyarrow and DuckDB write it, for internal/corpora/collect: one
row, whose columns are ids of a document; and for kinds/internal/inout, whose rows are values
(parquet_types_requirements.txt).

    python tools/golden/parquet_types.py internal/corpora/collect/testdata/types kinds/internal/inout/testdata
"""
import datetime
import decimal
import pathlib
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

OUT = pathlib.Path(sys.argv[1])
OUT.mkdir(parents=True, exist_ok=True)

duckdb.sql(f"""COPY (SELECT 'x' AS text, 1.0 AS "decimal", CAST('-12345678901234567890.25' AS DECIMAL(38, 2)) AS wide,
  hash('a') AS hashed, CAST(4294967295 AS UINTEGER) AS unsigned, CAST('9fc30123-4567-89ab-cdef-001122334455' AS UUID) AS uuid,
  CAST(12345 AS HUGEINT) AS huge, CAST(hash('a') AS HUGEINT) AS hugehash, DATE '2020-01-01' AS day, INTERVAL 1 DAY AS span)
  TO '{OUT}/duckdb.parquet'""")
pq.write_table(pa.table({
    "text": ["x"], "decimal": pa.array([decimal.Decimal("-2.25")], pa.decimal128(5, 2)), "wide": pa.array([decimal.Decimal("1.50")], pa.decimal256(50, 2)),
    "unsigned": pa.array([2**64 - 1], pa.uint64()), "float": pa.array([8841820.0]), "half": pa.array([np.float16(1.5)]),
    "stamp": pa.array([1], pa.timestamp("us")), "flag": pa.array([True]), "category": pa.array(["a"]).dictionary_encode(),
}), OUT / "pyarrow.parquet")

VALUES = pathlib.Path(sys.argv[2])
VALUES.mkdir(parents=True, exist_ok=True)
one = pa.array
pq.write_table(pa.table({name: pa.concat_arrays([column, pa.nulls(1, column.type)]) for name, column in {
    "text": one(["007"]), "decimal": one([decimal.Decimal("-2.25")], pa.decimal128(5, 2)), "tenth": one([decimal.Decimal("0.3")], pa.decimal128(5, 1)), "unsigned": one([2**64 - 1], pa.uint64()),
    "float": one([0.1], pa.float32()), "nan": one([float("nan")]), "flag": one([True]), "category": one(["a"]).dictionary_encode().cast(pa.string()), "big": one([2**53 + 1]),
    "day": one([datetime.date(2020, 2, 29)]), "stamp": one([-500], pa.timestamp("ms", "UTC")), "local": one([1577880000 * 10**9 + 1], pa.timestamp("ns")), "list": one([[1, None, 3]]),
    "object": one([{"a": 1, "b": [{"c": "x"}]}]),
}.items()}), VALUES / "pyarrow.parquet")
duckdb.sql(f"""COPY (SELECT CAST('9fc30123-4567-89ab-cdef-001122334455' AS UUID) AS uuid, hash('a') AS hashed, 1 AS n,
  CAST(-12345.67 AS DECIMAL(7, 2)) AS seven, CAST('-12345678901234567.25' AS DECIMAL(38, 2)) AS wide, CAST(123456.789 AS DECIMAL(18, 3)) AS eighteen) TO '{VALUES}/duckdb.parquet'""")
for name, value in {"nine": "CAST(1234567.89 AS DECIMAL(9, 2))", "span": "INTERVAL 1 DAY", "time": "TIME '01:02:03'"}.items():
    duckdb.sql(f"COPY (SELECT {value} AS {name}) TO '{VALUES}/{name}.parquet'")
pq.write_table(pa.table({"half": pa.array([np.float16(1.5)])}), VALUES / "half.parquet")
