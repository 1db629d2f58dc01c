"""What a diagnostic code stands for: one entry of the table that `eva explain` and the docs print."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.model.diagnostic import Diagnostic, Level, Reason, Span

__all__ = ["Code"]


@dataclass(frozen=True, slots=True)
class Code:
    """``why`` says what the rule protects, ``fix`` what to do next; both are whole sentences."""

    code: str
    reason: Reason
    title: str
    why: str
    fix: str

    def found(
        self,
        message: str,
        *spans: Span,
        notes: tuple[str, ...] = (),
        fix: str | None = None,
        level: Level = Level.ERROR,
    ) -> Diagnostic:
        """A `Diagnostic` with the reason, the why and (unless given) the fix that belong to the code."""
        return Diagnostic(
            code=self.code,
            reason=self.reason,
            message=message,
            spans=spans,
            notes=notes,
            help=self.why,
            fix=self.fix if fix is None else fix,
            level=level,
        )
