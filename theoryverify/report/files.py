"""Writing reports: the same writers as everywhere, under the name that reports know."""

from theoryverify.files import writable_folder, write_bytes, write_text

__all__ = ["writable_folder", "write_bytes", "write_text"]
