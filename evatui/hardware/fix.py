"""What a person can type so that a device may be opened: text to copy, which nothing here ever runs."""

from __future__ import annotations

from evatui.hardware.sighting import Bus

__all__ = ["group_fix", "udev_fix"]

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
            "# put this into /etc/udev/rules.d/70-evatui.rules",
            *rules,
            "# then: sudo udevadm control --reload && sudo udevadm trigger",
            *([] if vendor is not None else ["# and: " + group_fix("dialout")]),
        ]
    )
