"""Sessions with good follow-ups and a private context of everyday words, in the six languages of
the rules, and words of these contexts that a respondent may ask a model for.
"""

from pathlib import Path
from typing import NamedTuple


class Session(NamedTuple):
    """A form with its private context; of each step the question, the answer and the follow-up."""

    context: str
    steps: tuple[tuple[str, ...], ...]


def _read(file: Path) -> list[Session]:
    """A paragraph each: a line for the context, then one for each step."""
    found = []
    for paragraph in file.read_text().split("\n\n"):
        context, *steps = paragraph.strip().split("\n")
        found.append(Session(context, tuple(tuple(step.split(" | ")) for step in steps)))
    return found


SESSIONS = {file.stem: _read(file) for file in sorted(Path(__file__).parent.glob("sessions/*.txt"))}

# nine questions with two words each, as a respondent may have a model write them
WANTED = {
    "en": (
        "Would {} and {} matter to you?",
        "nursing weekend rota staff hospital wards spring manager bakery regulars prices May rye "
        "bread Mondays queue buy churn",
    ),
    "de": (
        "Wären {} und {} wichtig für Sie?",
        "pflegeteam dienstplan stationen frühjahr leitung zusammengelegt preiserhöhung "
        "stammkunden bäckerei roggenbrot streichen montags öffnen schlange kaufen leute gehört "
        "verlassen",
    ),
    "es": (
        "¿Le importan {} y {}?",
        "enfermería turnos escucha plantas primavera jefa unan panadería clientes subieron "
        "precios mayo quitar pan centeno abrir lunes cola",
    ),
    "fr": (
        "Est-ce que {} et {} comptent pour vous ?",
        "soins planning week écoute services réunis printemps cheffe boulangerie habitués hausse "
        "prix mai arrêter pain seigle lundi file",
    ),
    "pt-BR": (
        "Importam {} e {} para você?",
        "enfermagem escala semana ouve novos alas juntem primavera chefe padaria clientes preços "
        "subiram maio pão centeio segunda fila",
    ),
    "ar": (
        "هل يهمك {} و{}؟",
        "التمريض جدول يسمع الجدد يدمج قسمان الربيع المديرة المخبز زبائن ارتفعت الأسعار مايو خبز "
        "الجاودار نفتح الاثنين الطابور",
    ),
}
