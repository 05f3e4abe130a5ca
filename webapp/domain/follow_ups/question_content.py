"""What no written question may hold: signs of markup and code, addresses, requests for secrets."""

import re
import unicodedata

from webapp.domain.follow_ups.text_folding import folded
from webapp.domain.shared.unicode_normalization import normalized

PLAIN = {"Lu", "Ll", "Lt", "Lo", "Lm", "Mn", "Mc", "Nd", "Sc", "Po", "Pd", "Ps", "Pe", "Pi", "Pf"}
BLANKS = " \u00a0\u202f\u3000"  # French and East Asian punctuation has its own
NOT_PLAIN = frozenset("#*@\\_[]{}⁇⁈⁉‽′″‴‵‶")  # punctuation by its category
SIGNS = frozenset("+°")
JOINERS = "\u200c\u200d"  # Persian and Indic spelling has them
JOINED = re.compile(f"(?<=[\u0600-\u0dff])[{JOINERS}](?=[\u0600-\u0dff])")
# a variation selector, a grapheme joiner and Hangul fillers are marks and letters nobody sees
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")

QUESTION_MARKS = re.compile("[?？؟՞፧]")
GREEK_QUESTION_MARKS = re.compile("[?;\u037e]")
CLOSING = re.compile("[\"'”’»›」』)）\\s]*")

ADDRESS = re.compile(
    r"""
    \w://|\bwww\d?[.。]|[^\s@]+@[^\s@]+
    | \b(?:mailto|tel|javascript|data):
    | [\w-]{2,}\.\s?(?:com|org|net)\b
    | [\w-]{2,}\.[a-z]{2,}|[a-z0-9-]{2,}。[a-z]{2,}|\b[\w-]+\.[a-z]{2,}/\w
    | \(\s?(?:at|ät|dot|punkt|punto|arroba|arobase|point|ponto)\s?\)
    | \b(?:dot|punkt|punto|point|ponto)\s+(?:com|org|net|io|de|fr|es|br)\b
    | \d+\.\d+\.\d+\.\d+
    | (?:\d[\s().\-–/]*){7,}
    | (?:^|\s)~?/\w
    """,
    re.VERBOSE,
)
MARKUP = re.compile(r"^\s*(?:[-–—•+]|\d+[.)])\s|&\w+;|//|--|\w\(\)|[A-Za-z]\([^)]{5,}|;\s*$")

# Whole words; a short list for each language that pages are translated into.
SECRETS = {
    "en": r"pass ?words?|pass ?codes?|pass ?phrases?|pin|pins|log ?in (?:data|details)|credentials"
    r"|user ?names?|security (?:code|question)s?|one time code|verification code|cvv|cvc"
    r"|(?:two factor|2fa|authentication|access|sms) code|seed phrase|private key|your log ?in"
    r"|card (?:details|data)"
    r"|(?:credit|debit|bank|payment) cards?|card number|bank (?:account|details)|account number"
    r"|iban|bic|sort code|routing number|payment (?:data|details)"
    r"|passports?|id (?:card|number)|identity (?:card|document|number)s?|driver s licen[sc]e"
    r"|driving licen[sc]e|social security|ssn|national insurance|tax (?:id|number)"
    r"|date of birth|birth ?date|were you born|maiden name|full name|last name|surname|your names?"
    r"|where do you live|(?:copy|photo|picture|scan) of your id|your (?:mobile|cell) number"
    r"|home address|postal address|your address|phone number|e ?mail address|your e ?mail",
    "es": r"contrasenas?|(?:tu|su) clave|clave de acceso|codigo de (?:seguridad|verificacion)"
    r"|tarjetas? de (?:credito|debito)|cuenta bancaria"
    r"|numero de (?:(?:su|tu) )?(?:tarjeta|cuenta|pasaporte|telefono|identidad|identificacion)"
    r"|datos (?:bancarios|de pago)|pasaporte|dni|documento de identidad|seguridad social"
    r"|fecha de nacimiento|apellidos?|nombre completo|(?:su|tu) nombre|como se llama usted"
    r"|donde vive|su direccion|tu direccion"
    r"|correo electronico|nombre de usuario",
    "de": r"passwort|passworter|kennwort|kennworter|zugangsdaten|anmeldedaten|benutzername"
    r"|sicherheitscode|kreditkarten?|kreditkartennummer|kartennummer|kontonummer|bankkonto"
    r"|bankverbindung|bankdaten|zahlungsdaten|pruefziffer|geheimzahl|(?:ihre|deine|eine) tan"
    r"|reisepass|ausweis|(?:reise)?passnummer|ihren? namen?|dein(?:en)? namen?"
    r"|heissen sie|heisst du|wo wohnen sie|wo wohnst du|(?:sie|du) geboren"
    r"|personalausweis|ausweisnummer|fuhrerschein|sozialversicherungsnummer|steuernummer|steuer id"
    r"|geburtsdatum|madchenname|nachname|voller name|vollstandiger name|vollen namen"
    r"|anschrift|adresse|telefonnummer|handynummer",
    "fr": r"mots? de passe|identifiants?|code (?:secret|de securite|de verification|confidentiel)"
    r"|cartes? (?:bancaires?|de credit|bleue)"
    r"|numero de (?:(?:votre|ton) )?(?:carte|compte|passeport|telephone)"
    r"|compte bancaire|coordonnees bancaires|votre rib|ton rib|passeport"
    r"|carte d identite|piece d identite"
    r"|permis de conduire|securite sociale|date de naissance|nom de famille|nom complet"
    r"|(?:votre|ton) (?:pre)?nom|vous appelez vous|etes vous nee?|habitez vous"
    r"|nom de jeune fille|votre adresse|ton adresse|adresse (?:postale|e ?mail)",
    "pt_BR": r"senhas?|codigo de (?:seguranca|verificacao)|cart(?:ao|oes) de (?:credito|debito)"
    r"|numero d[aeo] (?:(?:seu|sua) )?(?:cartao|conta|passaporte|telefone|celular)"
    r"|conta bancaria|dados bancarios"
    r"|dados de pagamento|chave pix|passaporte|cpf|rg|cnh|carteira de (?:identidade|motorista)"
    r"|documento de identidade|data de nascimento|sobrenome|nome completo|nome de solteira"
    r"|(?:o|qual) seu nome|voce se chama|onde voce mora"
    r"|seu endereco|endereco de e ?mail|nome de usuario",
    "ar": r"(?:ال|رقمك |رقم )?(?:رقم )?السري|[اآ]يبان|الايبان|مرورك|ما اسمك|اين تسكن"
    r"|كلم[ةه] (?:ال)?(?:مرور|سر)|كلمات (?:ال)?مرور|رمز (?:التحقق|الامان)"
    r"|بطاق[ةه] (?:ال)?(?:ائتمان|ائتمانيه|بنكيه|هوي[ةه])|بطاقتك"
    r"|رقم (?:ال)?(?:بطاق[ةه]|حساب|جواز|هاتف|هوي[ةه])"
    r"|رقم (?:بطاقتك|حسابك|جوازك|هاتفك|هويتك)|حسابك البنكي|الحساب البنكي|جواز (?:ال)?سفر(?:ك)?"
    r"|هويتك|تاريخ (?:ال)?ميلاد(?:ك)?|اسمك الكامل|الاسم الكامل|عنوانك|بريدك(?: الالكتروني)?",
}


def has_one_line(question: str) -> bool:
    """Whether no character of any script begins another line."""
    return len(question.splitlines()) == 1


def is_plain(question: str) -> bool:
    """No character but letters, digits and punctuation: no control, bidi or format character."""
    shown = JOINED.sub("", question)
    return not UNSEEN.search(shown) and all(_is_plain(char) for char in shown)


def asks_one_question(question: str, *, is_greek: bool) -> bool:
    """Whether it ends with its only question mark, that of any script."""
    marks = [*(GREEK_QUESTION_MARKS if is_greek else QUESTION_MARKS).finditer(question)]
    one = len(marks) == 1 and question.count("¿") <= 1
    return one and CLOSING.fullmatch(question, marks[0].end()) is not None


def has_address(question: str) -> bool:
    """Whether it names a site, a mailbox, a machine, a file or a telephone number."""
    return ADDRESS.search(normalized("NFKC", question).casefold()) is not None


def has_markup(question: str, *, is_greek: bool) -> bool:
    """Whether it has lists, entities, calls or other signs of HTML, Markdown and code."""
    return MARKUP.search(question.rstrip(";") if is_greek else question) is not None


def asks_for_secrets(question: str) -> bool:
    """Whether it names passwords, payment or identity data, in any of the languages."""
    return _SECRETS.search(" ".join(_WORD.findall(folded(question)))) is not None


def _is_plain(char: str) -> bool:
    if char in NOT_PLAIN:
        return False
    return char in SIGNS or char in BLANKS or unicodedata.category(char) in PLAIN


_WORD = re.compile(r"\w+")
_SECRETS = re.compile(rf"\b(?:{folded('|'.join(SECRETS.values()))})\b")
