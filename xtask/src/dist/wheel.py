"""Packs the programs of a folder as a wheel: wheel.py FOLDER READER WHEEL VERSION EPOCH TAG"""

import base64
import hashlib
import os
import sys
import time
import zipfile

folder, reader, made, version, epoch, tag = sys.argv[1:]
info = f"qdepth-{version}.dist-info"
metadata = f"""Metadata-Version: 2.1
Name: qdepth
Version: {version}
Summary: Storage performance at every queue depth: measured, explained, published.
Home-page: https://github.com/qdepth/qdepth
License: Apache-2.0 OR MIT
Requires-Python: >=3.8
"""
wheel = f"""Wheel-Version: 1.0
Generator: qdepth
Root-Is-Purelib: false
Tag: {tag}
"""
files = [
    *(
        (f"qdepth-{version}.data/scripts/{name}", open(os.path.join(folder, name), "rb").read(), 0o755)
        for name in sorted(os.listdir(folder))
    ),
    ("qdepth/__init__.py", open(reader, "rb").read(), 0o644),
    (f"{info}/METADATA", metadata.encode(), 0o644),
    (f"{info}/WHEEL", wheel.encode(), 0o644),
]
record = []
when = time.gmtime(int(epoch))[:6]
with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
    def put(name, data, mode):
        entry = zipfile.ZipInfo(name, when)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, data)

    for name, data, mode in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
        put(name, data, mode)
    record.append(f"{info}/RECORD,,")
    put(f"{info}/RECORD", ("\n".join(record) + "\n").encode(), 0o644)
