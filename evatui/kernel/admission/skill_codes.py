"""The stable codes ``EVA-80x`` and ``EVA-81x`` (skills)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["SKILL_CODES"]

SKILL_CODES = (
    Code(
        "EVA-801",
        Reason.FILE_MISSING,
        "a skill cannot be read",
        "What is not read is not told to an agent: nothing is guessed about it.",
        "Make it a regular file of at most 1 MiB, inside its layer, that the runtime may read.",
    ),
    Code(
        "EVA-802",
        Reason.MANIFEST_INVALID,
        "a SKILL.md has no front matter",
        "Without a description nobody can tell when the skill is of use, so it would never be chosen.",
        "Begin the file with a line ---, then name: and description:, then another line ---.",
    ),
    Code(
        "EVA-803",
        Reason.MANIFEST_INVALID,
        "something stands before the front matter",
        "It is read here, but programs that want --- in the first line see no skill at all.",
        "Move what stands above the first --- below the second one.",
    ),
    Code(
        "EVA-804",
        Reason.YAML_INVALID,
        "the front matter cannot be read",
        "A skill that is understood only in part could lose what restricts it.",
        "Repair the marked place; text with a colon, a quote or a bracket in it is safe inside quotes.",
    ),
    Code(
        "EVA-805",
        Reason.YAML_INVALID,
        "a value in the front matter is no YAML as it stands, and was read as text",
        "It is read whole here, but programs with a strict reader skip the skill.",
        "Put the value in quotes.",
    ),
    Code(
        "EVA-806",
        Reason.MANIFEST_INVALID,
        "a skill has no description",
        "The description is all that an agent sees before it decides for a skill.",
        "Add description: with what the skill does, and when to use it.",
    ),
    Code(
        "EVA-807",
        Reason.MANIFEST_INVALID,
        "a field that restricts a skill cannot be read",
        "To go on without it would let the skill do more than its author meant.",
        "Write it as text such as `requires_bins: rg, git`, or as a list such as `[rg, git]`.",
    ),
    Code(
        "EVA-808",
        Reason.MANIFEST_INVALID,
        "a skill is not as the public specification has it",
        "It is read and used here; other programs may shorten it, rename it or leave it out.",
        "Keep to the form that the message names.",
    ),
    Code(
        "EVA-809",
        Reason.MANIFEST_INVALID,
        "a field of a skill has a value that does not fit",
        "A value that is guessed at might mean something else, so the default holds.",
        "Write a value of the form that the message names, or remove the line.",
    ),
    Code(
        "EVA-810",
        Reason.POLICY_DENIED,
        "the policy keeps skills of the user's own layers from use",
        "They come from outside the workspace, where nobody who looks after the workspace has reviewed them.",
        "Set skills.allow_user_local: true in the policy, or copy the skill into the workspace.",
    ),
    Code(
        "EVA-811",
        Reason.FILE_MISSING,
        "a layer of skills cannot be searched, or only in part",
        "What lies in it is unknown, so none of it is offered.",
        "Give the user that runs evatui the right to read it, or make it smaller.",
    ),
    Code(
        "EVA-812",
        Reason.DUPLICATE_ID,
        "two skills of one layer have the same name",
        "Between layers the higher one wins; within one layer only the order of the folders decides.",
        "Give one of them another name, or remove it.",
    ),
    Code(
        "EVA-813",
        Reason.RUNTIME_WORKER,
        "a runtime worker is shown, never offered",
        "A runtime worker is part of how another runtime works inside, and of no use outside of it.",
        "Remove kind: runtime_worker if the text is meant for agents.",
    ),
    Code(
        "EVA-814",
        Reason.FILE_MISSING,
        "a folder among skills holds none",
        "A skill whose file is named otherwise vanishes without a word in most programs.",
        "Name the file SKILL.md, or move the folder elsewhere.",
    ),
    Code(
        "EVA-815",
        Reason.YAML_INVALID,
        "a part of a value is a comment",
        "A # behind a space begins a comment in YAML, so the rest of the line is lost without a word.",
        "Put the value in quotes if all of it is meant, and the comment into a line of its own if not.",
    ),
    Code(
        "EVA-816",
        Reason.MANIFEST_INVALID,
        "a manifest beside a skill adds less to prompts than it asks for",
        "What cannot be read, or lies outside of the skill's own folder, gets into no prompt.",
        "Name files below the folder of the skill, of at most 256 KiB each, in JSON that can be read.",
    ),
    Code(
        "EVA-817",
        Reason.POLICY_DENIED,
        "the policy lets no skill of this kind answer calls",
        "A skill steers an agent, so who looks after the policy says whether one may be called at all.",
        "Add workflow_skill to skills.allow_kinds in the policy, or switch the adapter off with enabled: false.",
    ),
    Code(
        "EVA-818",
        Reason.RUNTIME_GATE_MISMATCH,
        "the runtime gate of a skill excludes the runtime's mode",
        "A skill answers only in the modes that it names, normal where it names none.",
        "Add the mode to runtime_gate.allowed_modes, or change runtime.mode in eva.yaml.",
    ),
    Code(
        "EVA-819",
        Reason.SCHEMA_MISSING,
        "a skill is only shown, since it has no schemas",
        "What goes in and what comes out of a call is checked; without schemas nobody could.",
        "Add schemas with input and output for each of its capabilities.",
    ),
    Code(
        "EVA-820",
        Reason.MANIFEST_INVALID,
        "a skill goes on as it was, since its file is refused by now",
        "A version that cannot be read takes nothing away from those who work with the one before.",
        "Mend what the refusal of the file names; what is right is taken at once.",
    ),
)
