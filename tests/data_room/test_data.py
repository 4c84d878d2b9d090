"""Loaders refuse what is broken or hostile; pairs leak nothing; the prepared file notices damage."""

from __future__ import annotations

import gzip
import pickle
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theoryverify.cli import main
from theoryverify.data import DEFAULT, VARIABLE, prepared
from theoryverify.data.avmnist import Pairs, pair
from theoryverify.data.corruption import (
    Corruption,
    corrupt_images,
    corrupt_wave,
    mask_spectrogram,
    principal_projection,
)
from theoryverify.data.fsdd import Clips, load_fsdd
from theoryverify.data.mnist import Digits, load_mnist
from theoryverify.data.spectrogram import spectrogram
from theoryverify.data.synthesis import RATE, say
from theoryverify.errors import InputError

REAL = Path(__file__).parents[3] / "shared" / "data" / "fsdd"


def digits(count: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, 28, 28), np.uint8), np.arange(count, dtype=np.uint8) % 10


def write_idx(folder: Path, *, magic: int = 2051, cut: int = 0, zipped: bool = False) -> None:
    for prefix, count in (("train", 40), ("t10k", 20)):
        images, labels = digits(count)
        for name, number, array in (
            (f"{prefix}-images-idx3-ubyte", magic, images),
            (f"{prefix}-labels-idx1-ubyte", 2049, labels),
        ):
            content = struct.pack(f">{1 + array.ndim}I", number, *array.shape) + array.tobytes()
            content = content[: len(content) - cut]
            if zipped:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name).write_bytes(content)


# -- MNIST --------------------------------------------------------------------------------------


@pytest.mark.parametrize("zipped", [False, True])
def test_idx(tmp_path: Path, zipped: bool) -> None:
    write_idx(tmp_path, zipped=zipped)
    found = load_mnist(tmp_path)
    assert np.array_equal(found.images[:34], digits(40)[0][:34])
    assert np.bincount(found.split).tolist() == [34, 6, 20]


@pytest.mark.parametrize("scale", [255, 256])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_npz_and_pickle_hold_the_same(tmp_path: Path, scale: int, kind: type) -> None:
    """Every byte value, stored as k/255, or as k/256 like the old pickle, comes back as itself."""
    (x, y), (u, v) = digits(40), digits(20)
    assert len(set(x[:34].ravel().tolist())) == 256
    np.savez(tmp_path / "m.npz", x_train=x, y_train=y, x_test=u, y_test=v)
    parts = tuple(
        (a.astype(kind) / kind(scale), b.astype(np.int64))
        for a, b in ((x[:34], y[:34]), (x[34:], y[34:]), (u, v))
    )
    content = pickle.dumps(parts, protocol=2)
    (tmp_path / "m.pkl.gz").write_bytes(gzip.compress(content))
    one, two = load_mnist(tmp_path / "m.npz"), load_mnist(tmp_path / "m.pkl.gz")
    for name in ("images", "labels", "split"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_broken_mnist(tmp_path: Path) -> None:
    write_idx(tmp_path, magic=2052)
    with pytest.raises(
        InputError, match=r"train-images-idx3-ubyte has magic number 2052, not 2051"
    ):
        load_mnist(tmp_path)
    write_idx(tmp_path, cut=3)
    with pytest.raises(
        InputError, match=r"train-images-idx3-ubyte has 31357 bytes of data, not 31360"
    ):
        load_mnist(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load_mnist(tmp_path / "none.npz")
    np.savez(tmp_path / "m.npz", x_train=np.zeros((3, 28, 28), np.uint8))
    with pytest.raises(InputError, match="lacks x_test, y_test, y_train"):
        load_mnist(tmp_path / "m.npz")
    x, y = digits(20)
    np.savez(tmp_path / "m.npz", x_train=x, y_train=y + 10, x_test=x, y_test=y)
    with pytest.raises(InputError, match="labels must be 0 to 9"):
        load_mnist(tmp_path / "m.npz")
    np.savez(tmp_path / "m.npz", x_train=x[:, :5], y_train=y, x_test=x, y_test=y)
    with pytest.raises(InputError, match=r"x_train has shape \(20, 5, 28\), not"):
        load_mnist(tmp_path / "m.npz")
    np.savez(tmp_path / "m.npz", x_train=np.array([None]), y_train=y, x_test=x, y_test=y)
    with pytest.raises(InputError, match=r"no \.npz of plain arrays"):
        load_mnist(tmp_path / "m.npz")


# -- speech -------------------------------------------------------------------------------------


def write_wav(path: Path, samples: np.ndarray, rate: int = 8000, channels: int = 1) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", "not compressed"))
        file.writeframes((samples * 32767).astype("<i2").tobytes())


def test_wav_folder(tmp_path: Path) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(2000) / 8000)
    write_wav(tmp_path / "7_anna_12.wav", tone)
    (tmp_path / "notes.txt").write_text("ignored")
    found = load_fsdd(tmp_path)
    assert (found.labels.tolist(), found.speakers, found.indices.tolist()) == ([7], ("anna",), [12])
    assert np.abs(found.waves[0] - tone).max() < 1e-4
    write_wav(tmp_path / "8_anna_0.wav", tone, rate=16000)
    with pytest.raises(InputError, match=r"8_anna_0\.wav has 16000 samples a second"):
        load_fsdd(tmp_path)
    write_wav(tmp_path / "8_anna_0.wav", tone, channels=2)
    with pytest.raises(InputError, match=r"8_anna_0\.wav has 2 channels"):
        load_fsdd(tmp_path)
    whole = (tmp_path / "7_anna_12.wav").read_bytes()
    (tmp_path / "8_anna_0.wav").write_bytes(whole[:1000])
    with pytest.raises(InputError, match=r"8_anna_0\.wav is cut short"):
        load_fsdd(tmp_path)
    (tmp_path / "8_anna_0.wav").write_bytes(b"RIFX" + whole[4:])
    with pytest.raises(InputError, match=r"8_anna_0\.wav is no whole WAV"):
        load_fsdd(tmp_path)
    with pytest.raises(InputError, match=r"has no file called like"):
        load_fsdd(tmp_path.parent)


@pytest.mark.parametrize("hertz", [200, 1000, 3000])
def test_a_tone_lies_in_its_band(hertz: int) -> None:
    """The brightest row, from the top, is that of the triangle nearest in mel."""
    tone = np.sin(2 * np.pi * hertz * np.arange(4000) / 8000)
    picture = spectrogram(tone, 8000)
    assert picture.shape == (28, 28)
    centres = np.linspace(*(2595 * np.log10(1 + np.array([100, 4000]) / 700)), 30)[1:-1]
    nearest = int(np.abs(centres - 2595 * np.log10(1 + hertz / 700)).argmin())
    assert abs((27 - picture[:, 14].argmax()) - nearest) <= 1


def test_a_silent_recording_is_named(tmp_path: Path) -> None:
    write_wav(tmp_path / "3_anna_0.wav", np.sin(np.arange(500.0)))
    write_wav(tmp_path / "7_anna_12.wav", np.zeros(500))
    with pytest.raises(InputError, match=r"7_anna_12\.wav: a silent clip"):
        load_fsdd(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["7_mary-ann_3.wav", "7_mary_ann_3.WAV", "7.wav", "17_anna_3.wav", "7_anna_1234567890.wav"],
)
def test_a_recording_of_another_name_is_refused(tmp_path: Path, name: str) -> None:
    tone = np.sin(np.arange(500.0))
    for other in ("3_anna_0.WAV", "._3_anna_0.wav", name):
        write_wav(tmp_path / other, tone)
    with pytest.raises(InputError, match=f"{name} is not called like 7_jackson_32.wav"):
        load_fsdd(tmp_path)
    (tmp_path / name).unlink()
    assert load_fsdd(tmp_path).labels.tolist() == [3]


@pytest.mark.parametrize("rate", [1, 3999, 48001, 2**31 - 1])
def test_a_rate_far_off_is_refused(tmp_path: Path, rate: int) -> None:
    write_wav(tmp_path / "3_anna_0.wav", np.sin(np.arange(500.0)), rate=rate)
    with pytest.raises(InputError, match=rf"3_anna_0\.wav has {rate} samples a second; 4000 to"):
        load_fsdd(tmp_path)


def test_silence_has_no_spectrogram() -> None:
    with pytest.raises(InputError, match="silent"):
        spectrogram(np.zeros(1000), 8000)


@pytest.mark.skipif(
    not REAL.is_dir(), reason="the Free Spoken Digit Dataset is not beside the project"
)
def test_the_real_recordings() -> None:
    found = load_fsdd(REAL)
    assert len(found.waves) == 3000
    assert len(set(found.speakers)) == 6
    assert np.bincount(found.labels).tolist() == [300] * 10


# -- pairs --------------------------------------------------------------------------------------


def clips(per_speaker: int = 12, speakers: tuple[str, ...] = ("a", "b", "c")) -> Clips:
    parts = [(d, s, i) for s in speakers for d in range(10) for i in range(per_speaker)]
    rng = np.random.default_rng(0)
    return Clips(
        [rng.standard_normal(400) for _ in parts],
        8000,
        np.array([d for d, _, _ in parts], np.uint8),
        tuple(s for _, s, _ in parts),
        np.array([i for _, _, i in parts], np.int64),
        "noise",
    )


def some_digits(count: int = 300) -> Digits:
    images, labels = digits(count)
    split = np.repeat(np.array([0, 1, 2], np.uint8), count // 3)
    return Digits(images, labels, split, "noise")


@pytest.mark.parametrize("rule", ["official", "speaker"])
def test_no_image_and_no_clip_is_in_two_splits(rule: str) -> None:
    sounds = clips()
    found = pair(some_digits(), sounds, split=rule)
    for owner in (found.image, found.clip):
        parts = [set(owner[found.split == part].tolist()) for part in range(3)]
        assert sum(map(len, parts)) == len(set.union(*parts))
    assert np.array_equal(sounds.labels[found.clip], found.label)
    assert len(set(found.image.tolist())) == len(found.image) == 300
    held = [set(found.speaker[found.clip[found.split == part]].tolist()) for part in range(3)]
    if rule == "speaker":
        assert held == [{0}, {1}, {2}]
    else:
        assert held == [{0, 1, 2}] * 3
    assert found.about["speakers in splits"] == [len(part) for part in held]
    again = pair(some_digits(), sounds, split=rule)
    assert prepared.digest(again) == prepared.digest(found)
    assert prepared.digest(pair(some_digits(), sounds, split=rule, seed=1)) != prepared.digest(
        found
    )


def test_an_absent_class_is_named() -> None:
    images = some_digits()
    images.labels[images.labels == 4] = 5
    with pytest.raises(InputError, match="the training split has no images of digit 4"):
        pair(images, clips())
    with pytest.raises(InputError, match="the training split has no clips of digit 0"):
        pair(some_digits(), clips(per_speaker=10))
    with pytest.raises(
        InputError, match=r"no images of digit \d \(noise, at most 50 for training\)"
    ):
        pair(some_digits(), clips(), most=50)
    with pytest.raises(InputError, match="at least 3 speakers; there are a, b"):
        pair(some_digits(), clips(speakers=("a", "b")), split="speaker")
    with pytest.raises(InputError, match="split 'random' is unknown"):
        pair(some_digits(), clips(), split="random")


def test_corruption_is_what_it_says() -> None:
    images, _ = digits(200)
    mean, components = principal_projection(images, 0.25)
    flat = images.reshape(200, -1) / 255 - mean
    share = ((flat @ components) ** 2).sum() / (flat**2).sum()
    fewer = ((flat @ components[:, :-1]) ** 2).sum() / (flat**2).sum()
    assert fewer < 0.25 <= share
    tone = np.sin(np.arange(200_000) / 5)
    noisy = corrupt_wave(tone, Corruption(decibels=(3, 3)), np.random.default_rng(0))
    assert 10 * np.log10(np.mean(tone**2) / np.mean((noisy - tone) ** 2)) == pytest.approx(
        3, abs=0.1
    )


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"kept": 0.0}, r"kept is 0\.0; a share in \(0, 1\]"),
        ({"kept": 1.5}, r"kept is 1\.5;"),
        ({"kept": float("nan")}, "kept is nan;"),
        ({"noise": -0.1}, r"noise is -0\.1; a finite number from 0"),
        ({"noise": float("inf")}, "noise is inf;"),
        ({"masked": 29}, "masked is 29; a whole number 0 to 28"),
        ({"masked": -1}, "masked is -1;"),
        ({"masked": 1.5}, r"masked is 1\.5;"),
        ({"decibels": (6.0, -3.0)}, r"decibels are \(6\.0, -3\.0\); two finite numbers"),
        ({"decibels": (0.0, float("inf"))}, "two finite numbers"),
    ],
)
def test_corruption_out_of_range(values: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        Corruption(**values)


def test_the_ends_of_the_ranges_of_corruption() -> None:
    images, _ = digits(50)
    how = Corruption(kept=1.0, noise=0.0, decibels=(3.0, 3.0), masked=28)
    rng = np.random.default_rng(0)
    assert np.array_equal(corrupt_images(images, images, how, rng), images)
    assert any((mask_spectrogram(images[0] | 1, how, rng) == 0).all() for _ in range(100))


def test_made_up_words_can_be_told_apart() -> None:
    """Nearest mean spectrogram of other voices: chance is a tenth."""

    def picture(digit: int, speaker: str, seed: int) -> np.ndarray:
        wave_ = say(digit, speaker, np.random.default_rng([seed, digit]))
        return spectrogram(wave_, RATE).astype(float)

    means = [
        np.mean([picture(d, s, k) for s in ("synth1", "synth3", "synth5") for k in (0, 1)], axis=0)
        for d in range(10)
    ]
    right = 0
    for d in range(10):
        for k in (5, 6):
            heard = picture(d, "synth2", k)
            right += int(np.argmin([np.abs(heard - mean).sum() for mean in means]) == d)
    assert right >= 14


# -- the prepared file --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Pairs:
    return pair(some_digits(), clips())


def test_a_prepared_file_comes_back(tmp_path: Path, made: Pairs) -> None:
    checksum = prepared.save(made, tmp_path / "pairs.npz")
    found = prepared.load(tmp_path / "pairs.npz")
    assert prepared.digest(found) == checksum
    assert found.about == made.about
    seen, heard, labels = found.part("test")
    assert seen.shape == heard.shape == (len(labels), 28, 28)
    clean, _, _ = found.part("test", corrupted=False)
    assert not np.array_equal(clean, seen)


def test_a_damaged_file_is_noticed(tmp_path: Path, made: Pairs) -> None:
    path = tmp_path / "pairs.npz"
    prepared.save(made, path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["label"] = arrays["label"].copy()
    arrays["label"][0] ^= 1
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="damaged: its checksum does not fit"):
        prepared.load(path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InputError, match=r"pairs\.npz is no \.npz of plain arrays"):
        prepared.load(path)
    with pytest.raises(InputError, match="make it with `theoryverify data prepare`"):
        prepared.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("x")
    with pytest.raises(InputError, match="no zip archive, or is cut short; make it with") as told:
        prepared.load(tmp_path / "text.npz")
    assert "unsafely" not in str(told.value)  # NumPy's advice


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_idx(tmp_path)
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    rng = np.random.default_rng(0)
    for digit in range(10):
        for index in (0, 5, 10):
            write_wav(sounds / f"{digit}_anna_{index}.wav", rng.uniform(-0.5, 0.5, 500))
    out = str(tmp_path / "pairs.npz")
    options = ["--mnist", str(tmp_path), "--fsdd", str(sounds), "--out", out]
    # Six validation images cannot hold ten classes.
    assert main(["data", "prepare", *options]) == 2
    told = capsys.readouterr().err
    assert f"the validation split has no images of digit 0 ({tmp_path})" in told
    (x, y), (u, v) = digits(120), digits(20)
    np.savez(tmp_path / "m.npz", x_train=x, y_train=y, x_test=u, y_test=v)
    options[1] = str(tmp_path / "m.npz")
    assert main(["data", "prepare", *options]) == 0
    told = capsys.readouterr().out
    assert "avMNIST-like pairs" in told
    assert "clips split by official rule (1, 1, 1 speakers)" in told
    assert (
        told.splitlines()[-2]
        == f"use it: THEORYVERIFY_AVMNIST={out} theoryverify figure lca.table1"
    )
    assert told.splitlines()[-1] == f"sha256 {prepared.digest(prepared.load(out))}"
    assert main(["data", "show", "--out", out]) == 0
    assert "100 training, 20 validation, 20 test" in capsys.readouterr().out
    assert main(["data", "prepare", "--mnist", "/nonexistent", "--out", out]) == 2
    (sounds / "3_anna_0.wav").unlink()
    capsys.readouterr()
    assert main(["data", "prepare", *options]) == 2
    assert f"the test split has no clips of digit 3 ({sounds})" in capsys.readouterr().err


def test_how_the_prepared_file_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("theoryverify.data.embedded.embedded_digits", lambda seed: some_digits())
    monkeypatch.setattr("theoryverify.data.synthesis.synthesised", lambda seed: clips())
    assert main(["data", "prepare"]) == 0
    assert "\nuse it: theoryverify figure lca.table1\n" in capsys.readouterr().out
    monkeypatch.setenv(VARIABLE, "another.npz")
    assert main(["data", "prepare"]) == 0
    assert f"\nuse it: {VARIABLE}={DEFAULT} theoryverify" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["data", "prepare", "--help"])
    assert VARIABLE in capsys.readouterr().out
