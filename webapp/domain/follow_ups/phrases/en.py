"""English."""

from webapp.domain.follow_ups.thread import Technique

BY_TECHNIQUE = {
    Technique.REOPEN: (
        "That’s fine. Is there anything, even small, that comes to mind?",
        "No problem. What is the first thing that comes to mind, even if it is small?",
        "That’s all right. What would you tell a colleague who asked you this?",
    ),
    Technique.ELABORATE: (
        "Could you say a bit more about that?",
        "What else can you tell us about that?",
        "Can you put that in a little more detail?",
        "Would you tell us a little more about that?",
    ),
    Technique.SPECIFY: (
        "What does that look like in practice?",
        "Could you be a little more specific about that?",
        "What exactly do you have in mind there?",
    ),
    Technique.DEPENDS: (
        "What does it depend on?",
        "What would make it one way or the other?",
        "In which cases is it like that, and in which is it not?",
    ),
    Technique.WHY: (
        "What is the main reason for that?",
        "What is behind that, for you?",
        "Why is that, would you say?",
        "What led to that?",
    ),
    Technique.EXAMPLE: (
        "Can you describe one time that happened?",
        "What would be an example of that?",
        "Could you walk us through one situation of that kind?",
    ),
    Technique.IMPACT: (
        "What happened as a result?",
        "What did that change for you?",
        "What did that mean for you, in the end?",
    ),
    Technique.ALTERNATIVES: (
        "What else did you consider or try?",
        "What other ways were there?",
        "What would you have done otherwise?",
    ),
    Technique.CONTRAST: (
        "What tips the balance one way or the other?",
        "How do the two sides weigh against each other for you?",
        "When does one side matter more, and when the other?",
    ),
    Technique.CHOOSE_ONE: (
        "You mentioned several things. Which matters most, and why?",
        "Of the things you named, which one weighs most for you, and why?",
        "If you had to pick one of these, which would it be, and why?",
    ),
}
QUOTING = (
    "You wrote “{word}”. What does that look like in practice?",
    "What does “{word}” mean here, for you?",
    "You wrote “{word}”. What makes it so?",
)
