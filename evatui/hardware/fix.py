"""What a person can type so that a device may be opened: text to copy, which nothing here ever runs."""

from __future__ import annotations

from typing import Final

from evatui.hardware.sighting import Bus

__all__ = ["BRIDGES", "borrowed_fix", "group_fix", "holder_fix", "udev_fix", "wsl_fix"]

BRIDGES: Final = frozenset({0x0403, 0x10C4, 0x1A86})
"""Makers of the chips that a braille display has as well as a thousand other devices."""
_MODEM_MANAGER: Final = "ModemManager"
_RULES: Final = "# put this into /etc/udev/rules.d/70-evatui.rules"
_RELOAD: Final = "# then: sudo udevadm control --reload && sudo udevadm trigger"
_SUBSYSTEMS = {Bus.SERIAL: ("tty",), Bus.HID: ("hidraw", "usb")}


def group_fix(group: str) -> str:
    return f"sudo usermod -aG {group} $USER   # then log in again"


def udev_fix(bus: Bus, vendor: int | None, product: int | None) -> str:
    """A rule that gives the device to whoever sits at the machine; one that was built in goes to a group."""
    if vendor is None or product is None:
        rules = ['SUBSYSTEM=="tty", SUBSYSTEMS=="pnp|platform", GROUP="dialout", MODE="0660"']
    else:
        ids = f'ATTRS{{idVendor}}=="{vendor:04x}", ATTRS{{idProduct}}=="{product:04x}"'
        rules = [f'SUBSYSTEM=="{name}", {ids}, TAG+="uaccess"' for name in _SUBSYSTEMS[bus]]
    return "\n".join(
        [
            _RULES,
            *rules,
            _RELOAD,
            *([] if vendor is not None else ["# and: " + group_fix("dialout")]),
        ]
    )


def holder_fix(program: str, pid: int, vendor: int | None, product: int | None) -> str:
    """So that another program lets go of it: one that asks everything that is plugged in whether it is a modem."""
    if program != _MODEM_MANAGER:
        return f"end pid {pid}, or wait for it"
    ids = f'ATTRS{{idVendor}}=="{vendor or 0:04x}", ATTRS{{idProduct}}=="{product or 0:04x}"'
    return "\n".join(
        [
            "# ModemManager asks for some 10 s whether it is a modem; to have it left alone:",
            _RULES,
            f'SUBSYSTEM=="tty", {ids}, ENV{{ID_MM_DEVICE_IGNORE}}="1"',
            _RELOAD,
        ]
    )


def borrowed_fix(bus: Bus, vendor: int | None) -> str:
    """Where it went away a moment after it came, and may still be plugged in; empty where that says nothing."""
    if bus is not Bus.SERIAL or vendor not in BRIDGES:
        return ""
    return "\n".join(
        [
            "# is it still plugged in? Then brltty has taken it for a braille display:",
            "sudo systemctl mask --now brltty-udev.service   # or: sudo apt remove brltty",
        ]
    )


def wsl_fix(release: str) -> str:
    """Under WSL2 nothing is plugged in before Windows hands it over; empty elsewhere. ``release`` is the kernel's."""
    if "microsoft" not in release.lower():
        return ""
    return "usbipd list, then usbipd attach --wsl --busid BUSID   # in Windows, as administrator the first time"
