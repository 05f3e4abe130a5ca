"""The words of the example: a company asks cafés how their rotas are made."""

from typing import Any

EMAIL = "ann@fernhill.example"
NEWCOMER = "newcomer@fernhill.example"
PASSWORD = "a rota by the fridge"
CLAUDE = "claude"
ASKING = {
    "response_type": "code",
    "redirect_uri": "https://claude.example/callback",
    "scope": "forms:read responses:read forms:write offline_access",
    "state": "st4te",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}

WHO = "Who was the last person to change this week’s rota, and why?"
WRONG = "Tell me about the last time a shift went wrong."
STOPPED = "What nearly stopped you from leaving the spreadsheet?"
ROTA: dict[str, Any] = {
    "title": "How your rota really gets made",
    "goal": (
        "Find out what really happens between a shift swap and the printed rota, so that we know "
        "which step Fernhill should take over first."
    ),
    "context": (
        "We lost two cafés in Gothenburg last quarter, both after a missed early shift. "
        "The team is split between building swaps and building the print view."
    ),
    "questions": [
        {"text": WHO, "context": "Talk as you would to a colleague."},
        {"text": WRONG, "context": "A short story is fine. Leave out names if you like."},
        {"text": STOPPED, "context": "Money, habit, a colleague, anything."},
    ],
    "followUpMode": "smart",
}
# to the questions of ROTA in their order
PREPARED = [
    [("What did they change it to?", "if_short"), ("Which of those came first?", "if_several")],
    [("Who noticed it first, and what did they do then?", "always")],
    [],
]
GERMAN = {
    "title": "Arbeitszeitflexibilisierungsvereinbarung: was halten Teams davon?",
    "questions": [
        "Was hat sich seit der Vereinbarung für Sie geändert?",
        "Wann mussten Sie zuletzt kurzfristig einspringen?",
        "Wer entscheidet bei Ihnen, wer tauschen darf?",
        "Was steht heute noch auf Papier?",
        "Was würden Sie sofort wieder abschaffen?",
        "Was fehlt in dieser Liste?",
    ],
}
PARKING = {
    "title": "Parking at the market hall",
    "questions": [
        "How did you come here today?",
        "What would have made parking easier?",
        "May we have your name?",
    ],
}
SENT_BACK_NOTE = "Good, but nobody should have to leave a name. Two questions are enough."
GOODBYE = {
    "title": "Goodbye notes from people leaving the trial",
    "questions": [
        "What made you stop?",
        "What will you use instead?",
        "What did we promise that was not there?",
        "May we ask again in half a year?",
    ],
}
MINUTES = {
    "title": "The first ten minutes in Fernhill",
    "questions": ["What did you try first?", "Where did you get stuck?"],
}
PRICE = {
    "title": "What would you pay for holiday planning?",
    "questions": ["Who plans holidays today?", "What would it be worth to you, per month?"],
}
PRICED = [
    ("Ada Brook", "I do, on paper.", "As much as a calendar."),
    ("", "Whoever asks first.", "Nothing, it works."),
]
WRITER = "small-model at api.example.com"
PROBED = {
    "title": "Who changes your rota",
    "context": "We lost two cafés in Gothenburg last quarter.",
    "questions": [WHO, STOPPED],
    "followUpMode": "smart",
}
# to the questions of PROBED
ASKED_BACK = [[("What happened in the kitchen then?", "always")], [("What else?", "always")]]
NO_TITLE = {"questions": [{"text": "What changed?"}, {"text": ""}]}
# Newest first: the name, then an answer to each question; an empty one is skipped.
ANSWERS = [
    (
        "Sam Okafor",
        "That was me, on Tuesday night. Mira’s little one had a fever, so I asked Tom to take her "
        "early shift and moved him off the Friday close. I wrote it in the group chat first, and "
        "only put it in the rota the next day because somebody asked.",
        "Two Saturdays ago. Our baker swapped over the phone, I changed the spreadsheet at home, "
        "but the print by the fridge was last week’s. At six nobody was there and the ovens were "
        "cold.",
        "",
    ),
    (
        "",
        "idk, my manager? She does it on her phone in the walk-in fridge because that is the only "
        "quiet place. https://chat.example/groups/linnea/messages/2026/11/18/"
        "schichtplanänderungsbenachrichtigung?thread=889120071",
        "",
        "Nothing. I would have left sooner.",
    ),
    ("ليلى", "زوجي، لأنه هو من يحتفظ بكلمة المرور.", "", ""),
    ("Mira", "Tom, and he told nobody.", "Every Monday.", "My brother built the spreadsheet."),
    ("Jonas Weiß", "Ich. Die neue Kollegin konnte donnerstags doch nicht.", "", "Der Drucker."),
    (
        "",
        "Whoever stood next to the list with a pen.",
        "Easter. Two of us came for one shift, and the one who should have come was on a train.",
        "Thirty people who know where to look now, and would not afterwards.",
    ),
    ("Aisha", "The owner, from her holiday.", "She forgot the time difference.", ""),
    ("Pelle", "Me, because nobody else has the password.", "", "The price."),
    ("", "No idea.", "", ""),
    (
        "Ingrid",
        "Our head chef. He wanted the strong people on Sunday.",
        "My first week. I was on the list twice, under two spellings of my name.",
        "I asked for an export once and got a photograph of the screen.",
    ),
    ("Noor", "I did, and I wrote why on the back of the page.", "", "Habit, mostly."),
    ("Tom", "Mira. I owed her one.", "The Friday she means.", "Nobody asked me to leave it."),
]
UNFINISHED = [
    "Linus, I think. He has the key to the office.",
    "It changes by itself, I sometimes feel.",
    "My sister, because I was ill.",
]
