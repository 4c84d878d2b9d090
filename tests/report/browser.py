"""A few lines of W3C WebDriver over HTTP: enough to look at a page in headless Chromium."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.two_processes import free_port

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


def missing() -> str:
    """Why no browser can be started here, or nothing."""
    for name in ("chromium", "chromedriver"):
        if shutil.which(name) is None:
            return f"{name} is not installed"
    return ""


class Browser:
    """One session. ``phone`` emulates a screen of 390 by 844 with touch."""

    def __init__(self, *, phone: bool = False, dark: bool = False) -> None:
        port = free_port()
        self._home = tempfile.mkdtemp(prefix="theoryverify-chromium-")
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._root = f"http://127.0.0.1:{port}/session"
        options: dict[str, Any] = {"args": [*FLAGS, f"--user-data-dir={self._home}"]}
        options["args"].append("--window-size=1280,900")
        if phone:
            metrics = {"width": 390, "height": 844, "pixelRatio": 2.0, "touch": True}
            options["mobileEmulation"] = {"deviceMetrics": metrics}
        capabilities = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self._base = self._root
        try:
            session = self._started({"capabilities": {"alwaysMatch": capabilities}})
            self._base = f"{self._root}/{session}"
            if dark:
                features = [{"name": "prefers-color-scheme", "value": "dark"}]
                self.devtools("Emulation.setEmulatedMedia", features=features)
        except BaseException:
            self.close()
            raise

    def _started(self, request: dict[str, Any]) -> str:
        end = time.monotonic() + 30
        while True:
            try:
                return str(self._call("POST", "", request)["sessionId"])
            except urllib.error.URLError:
                if time.monotonic() > end or self._driver.poll() is not None:
                    raise
                time.sleep(0.1)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data, {"Content-Type": "application/json"}, method=method
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def devtools(self, command: str, **params: Any) -> Any:
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, address: str) -> None:
        self._call("POST", "/url", {"url": address})

    def script(self, text: str, *args: Any) -> Any:
        return self._call("POST", "/execute/sync", {"script": text, "args": list(args)})

    def keys(self, *keys: str) -> None:
        """Press keys one after the other; ``Tab`` and ``Enter`` by their names."""
        names = {"Tab": "\ue004", "Enter": "\ue007"}
        actions = [
            {"type": kind, "value": names.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self._call("POST", "/actions", {"actions": [source]})

    def log(self, kind: str = "browser") -> list[dict[str, Any]]:
        return list(self._call("POST", "/se/log", {"type": kind}))

    def requested(self) -> list[str]:
        """Every address the page asked for since the last call, less what its policy stopped."""
        asked: dict[str, str] = {}
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            method, params = message["method"], message.get("params", {})
            if method == "Network.requestWillBeSent":
                asked[params["requestId"]] = params["request"]["url"]
            elif method == "Network.loadingFailed" and params.get("blockedReason") == "csp":
                asked.pop(params["requestId"], None)
        return list(asked.values())

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self) -> None:
        try:
            if self._base != self._root:
                self._call("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self._driver.terminate()
        self._driver.wait(10)
        shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
