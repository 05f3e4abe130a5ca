"""German."""

from webapp.domain.follow_ups.thread import Technique

BY_TECHNIQUE = {
    Technique.REOPEN: (
        "Kein Problem. Gibt es etwas, auch etwas Kleines, das Ihnen dazu einfällt?",
        "Das ist in Ordnung. Was kommt Ihnen als Erstes in den Sinn, auch wenn es wenig ist?",
        "Macht nichts. Was würden Sie jemandem aus Ihrem Umfeld sagen, der das fragt?",
    ),
    Technique.ELABORATE: (
        "Könnten Sie dazu noch etwas mehr sagen?",
        "Was können Sie uns noch darüber erzählen?",
        "Könnten Sie das etwas ausführlicher beschreiben?",
        "Würden Sie uns etwas mehr darüber erzählen?",
    ),
    Technique.SPECIFY: (
        "Wie sieht das in der Praxis aus?",
        "Könnten Sie das etwas genauer sagen?",
        "Woran denken Sie dabei genau?",
    ),
    Technique.DEPENDS: (
        "Wovon hängt es ab?",
        "Was gibt den Ausschlag in die eine oder die andere Richtung?",
        "In welchen Fällen ist es so, und in welchen nicht?",
    ),
    Technique.WHY: (
        "Was ist der wichtigste Grund dafür?",
        "Was steckt für Sie dahinter?",
        "Woran liegt das, aus Ihrer Sicht?",
        "Was hat dazu geführt?",
    ),
    Technique.EXAMPLE: (
        "Könnten Sie ein Mal beschreiben, als das so war?",
        "Was wäre ein Beispiel dafür?",
        "Könnten Sie uns eine solche Situation schildern?",
    ),
    Technique.IMPACT: (
        "Was ist daraufhin geschehen?",
        "Was hat das für Sie verändert?",
        "Was hat das am Ende für Sie bedeutet?",
    ),
    Technique.ALTERNATIVES: (
        "Was haben Sie sonst noch erwogen oder ausprobiert?",
        "Welche anderen Wege gab es?",
        "Was hätten Sie andernfalls getan?",
    ),
    Technique.CONTRAST: (
        "Was gibt am Ende den Ausschlag?",
        "Wie wägen Sie die beiden Seiten gegeneinander ab?",
        "Wann wiegt die eine Seite schwerer, und wann die andere?",
    ),
    Technique.CHOOSE_ONE: (
        "Sie haben mehreres genannt. Was davon ist am wichtigsten, und warum?",
        "Was von dem, was Sie genannt haben, wiegt für Sie am schwersten, und warum?",
        "Wenn Sie eines davon herausgreifen müssten: Welches wäre es, und warum?",
    ),
}
QUOTING = (
    "Sie schreiben „{word}“. Wie sieht das in der Praxis aus?",
    "Was bedeutet „{word}“ hier für Sie?",
    "Sie schreiben „{word}“. Woran merken Sie das?",
)
