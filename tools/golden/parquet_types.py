"""Parquet with logical types, as pyarrow and DuckDB write it, for internal/corpora/collect: one
row, whose columns are ids of a document (parquet_types_requirements.txt).

    python tools/golden/parquet_types.py internal/corpora/collect/testdata/types
"""
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
