"""The stable codes ``EVA-83x`` and ``EVA-84x`` (plugins)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["PLUGIN_CODES"]

PLUGIN_CODES = (
    Code(
        "EVA-831",
        Reason.MANIFEST_INVALID,
        "the manifest of a plugin cannot be read",
        "Nothing of a plugin is run on a guess about what its manifest means.",
        "Make manifest.json a regular file of at most 1 MiB that holds one JSON object.",
    ),
    Code(
        "EVA-832",
        Reason.MANIFEST_INVALID,
        "the manifest of a plugin has a key that is not known",
        "A key that is passed over could be one that restricts the plugin.",
        "Remove the key, or write the one that was meant.",
    ),
    Code(
        "EVA-833",
        Reason.MANIFEST_INVALID,
        "a value in the manifest of a plugin does not fit",
        "What a plugin is and may do is read exactly, or it is not run.",
        "Write a value of the form that the message names.",
    ),
    Code(
        "EVA-834",
        Reason.FILE_MISSING,
        "a plugin has no program that can be run",
        "Only a regular file of the plugin's own folder is run; a link could lead to anything.",
        "Put the program beside manifest.json under the plugin's name or as main, and make it executable.",
    ),
    Code(
        "EVA-835",
        Reason.FILE_MISSING,
        "a plugin cannot be taken as a whole",
        "What runs is a copy of all that was hashed, so all of it must be readable and within bounds.",
        "Remove what the message names from the plugin's folder, or make it a regular file.",
    ),
    Code(
        "EVA-836",
        Reason.INTEGRITY_MISMATCH,
        "the program of a plugin is not the one that its manifest names",
        "A program that was exchanged does what somebody else wants.",
        "Install the plugin again, or write the digest of the program that you trust.",
    ),
    Code(
        "EVA-837",
        Reason.SIGNATURE_INVALID,
        "the signature of a plugin does not fit its files",
        "A signature that is there and does not fit says that something was changed after it was given.",
        "Install the plugin again, or sign it anew: eva plugin sign DIR --key FILE",
    ),
    Code(
        "EVA-838",
        Reason.SIGNATURE_INVALID,
        "nobody who is trusted has signed a plugin",
        "The policy may want each plugin signed by somebody whose key it lists.",
        "Add the key to plugins.keys in the policy, or have the plugin signed: eva plugin sign DIR --key FILE",
    ),
    Code(
        "EVA-839",
        Reason.FILE_MISSING,
        "a plugin needs what this machine has not",
        "A plugin that is started without what it needs fails in the middle of its work.",
        "Install the program, or set the variable, that the message names.",
    ),
    Code(
        "EVA-840",
        Reason.DUPLICATE_ID,
        "two plugins of one layer have the same name",
        "Between layers the higher one wins; within one layer only the order of the folders decides.",
        "Give one of them another name, or remove it.",
    ),
    Code(
        "EVA-841",
        Reason.FILE_MISSING,
        "a folder for plugins cannot be searched, or holds something else",
        "What is not read is not offered, and what vanishes without a word is looked for in vain.",
        "Make it a folder with a manifest.json that the runtime may read, or move it elsewhere.",
    ),
    Code(
        "EVA-842",
        Reason.POLICY_DENIED,
        "the policy keeps plugins of the user's own layers from use",
        "They come from outside the workspace, where nobody who looks after the workspace has reviewed them.",
        "Set skills.allow_user_local: true in the policy, or copy the plugin into the workspace.",
    ),
    Code(
        "EVA-843",
        Reason.INTEGRITY_MISMATCH,
        "the verified copy of a plugin was changed",
        "What was hashed is what runs: a copy that differs from it is never started.",
        "Look for who writes in .eva/verified; the next look at the plugin makes the copy anew.",
    ),
)
