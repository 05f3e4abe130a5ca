"""Private contexts in eleven languages, and models that put words of them into a question."""

from typing import NamedTuple


class Told(NamedTuple):
    """What a form says in one language.

    secret   words of the context that nobody but the creator knows
    leaking  a question that holds them
    """

    question: str
    answer: str
    context: str
    secret: str
    leaking: str


TOLD = {
    "English": Told(
        "What made you switch?",
        "It was slow, zebrafinch",
        "We will raise the prices for harbour pilots in spring.",
        "the prices for harbour pilots",
        "Would you mind the prices for harbour pilots?",
    ),
    "German": Told(
        "Warum haben Sie gewechselt?",
        "Es war zu langsam, Zebrafink",
        "Wir schließen im Herbst die Außenstelle der Werkstatt.",
        "die Außenstelle der Werkstatt",
        "Was halten Sie davon, wenn wir die Außenstelle der Werkstatt aufgeben?",
    ),
    "French": Told(
        "Pourquoi avez-vous changé ?",
        "C'était trop lent, zébrule",
        "Nous fermons le bureau près de la gare en automne.",
        "le bureau près de la gare",
        "Que pensez-vous de le bureau près de la gare ?",
    ),
    "Spanish": Told(
        "¿Por qué ha cambiado?",
        "Era demasiado lento, cebrazorro",
        "Vamos a despedir a los pilotos del puerto viejo.",
        "los pilotos del puerto viejo",
        "¿Qué piensa usted de los pilotos del puerto viejo?",
    ),
    "Portuguese": Told(
        "Por que você mudou?",
        "Era lento demais, zebroide",
        "Vamos vender a oficina da rua nova em maio.",
        "a oficina da rua nova",
        "O que você acha de a oficina da rua nova?",
    ),
    "Arabic": Told(
        "لماذا قمت بالتغيير؟",
        "كان بطيئا جدا يا زرافة",
        "سنغلق المكتب القديم قرب محطة القطار في الخريف.",
        "المكتب القديم قرب محطة القطار",
        "ما رأيك في المكتب القديم قرب محطة القطار؟",
    ),
    "Hebrew": Told(
        "למה החלפת?",
        "זה היה איטי מדי, זברה",
        "אנחנו נסגור את המשרד הישן ליד תחנת הרכבת בסתיו.",
        "המשרד הישן ליד תחנת הרכבת",
        "מה דעתך על המשרד הישן ליד תחנת הרכבת?",
    ),
    "Russian": Told(
        "Почему вы перешли?",
        "Было слишком медленно, зебра",
        "Осенью мы закроем старую мастерскую возле вокзала.",
        "старую мастерскую возле вокзала",
        "Вы помните старую мастерскую возле вокзала осенью мы закроем?",
    ),
    "Greek": Told(
        "Γιατί αλλάξατε;",
        "Ήταν πολύ αργό, ζέβρα",
        "Θα κλείσουμε το παλιό γραφείο κοντά στο σταθμό.",
        "το παλιό γραφείο κοντά στο σταθμό",
        "Τι πιστεύετε για το παλιό γραφείο κοντά στο σταθμό;",
    ),
    "Chinese": Told(
        "您为什么换了？",
        "因为太慢了，斑马雀",
        "我们打算秋天关闭火车站旁边的旧办公室。",
        "关闭火车站旁边的旧办公室",
        "您怎么看关闭火车站旁边的旧办公室？",
    ),
    "Japanese": Told(
        "なぜ変えましたか？",
        "遅すぎたからです、シマウマ",
        "秋に駅前の古い事務所を閉める予定です。",
        "駅前の古い事務所を閉める",
        "駅前の古い事務所を閉めることをどう思いますか？",
    ),
    "Hindi": Told(
        "आपने क्यों बदला?",
        "यह बहुत धीमा था ज़ेबरा",
        "हम पतझड़ में स्टेशन के पास पुराना दफ़्तर बंद करेंगे।",
        "स्टेशन के पास पुराना दफ़्तर",
        "आप स्टेशन के पास पुराना दफ़्तर कैसा मानते हैं?",
    ),
}
