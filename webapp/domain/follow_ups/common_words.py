"""Words with which questions are asked anywhere: a capital makes none of them a name.

German writes every noun with a capital, so the nouns of interviews are listed. The other words open
questions, or stand for people. Names that are words too (Will, May) are left out."""

from webapp.domain.follow_ups.text_folding import folded

ENGLISH = """
a about after again all also an and any anything apart are as aside at based because been before
being besides beyond between both but by can compared could describe did do does doing during each
either else even ever every explain first following for from given going had has have having here
how i if in instead into is it its just last let like looking m me more most much my now of off
often on once one only or other our out over overall perhaps please re s say since so some someone
something still such t tell than thanks thank that the their them then there these they thing things
think thinking this those though through to too under until up us ve was way we were what whatever
when whenever where whether which while who whom whose why with within without would yes you your
yours
"""
GERMAN = """
aber alle allem allen alles als also am an anders auch auf aus außer bei beim bevor bis bitte da
dabei dafür damit danach daran darüber das dass davon dazu dein deine dem den denn der des deshalb
die dies diese diesem diesen dieser dieses doch du durch eher eigentlich ein eine einem einen einer
eines einmal er erzählen es etwas euch fall für gab gibt haben hat hatte hatten hätte hätten ich ihm
ihn ihnen ihr ihre ihrem ihren ihrer ihres im in inwiefern ins ist ja jede jeder jetzt kann kein
keine können könnten könntest man manche mehr mein mich mir mit möchten muss nach nachdem neben
nehmen nein nicht nichts noch nun nur ob oder ohne sagen schon sehen sehr sein seit sich sie sind so
sonst über um und uns unter viel vielleicht vom von vor während wann war waren warum was weil welche
welchem welchen welcher welches wem wen wenig wenn wer werden weshalb wessen wie wieso will wir wird
wo wobei wodurch wofür woher wohin womit woran worauf woraus worin worüber worum wovon wozu wurde
würde würden zu zum zur zusammen zwischen
"""
GERMAN_NOUNS = """
abend ablauf alltag anfang angebot anlass ansicht antwort arbeit art arzt ärztin aspekt atmosphäre
aufenthalt aufgabe aufgaben aufwand augenblick austausch auswahl bedenken bedeutung bedürfnis beginn
behandlung beispiel beispiele bereich beschreibung besprechung besuch betreuung bild büro chef
chefin detail details ding dinge druck einarbeitung eindruck einfluss einstieg einzelheit
einzelheiten eltern ende entscheidung ereignis erfahrung erfahrungen ergebnis erinnerung erlebnis
erwartung erwartungen essen faktor faktoren fall fälle familie feedback firma folge folgen form
frage fragen frau freund freunde führungskraft führungskräfte gedanke gedanken gefühl gefühle
gegenteil geld gelegenheit gespräch grund gründe gruppe herausforderung hilfe hinsicht idee ideen
information informationen jahr jahre kind kinder kleinigkeit kollege kollegin kolleginnen kosten
kritik kunde kündigung kundin lage leben lernen leute lösung mal mann meinung mensch menschen minute
mitarbeiter mitarbeiterin möglichkeit möglichkeiten moment momente monat monate morgen nachricht
nachteil nachteile nutzung ort pause person personen perspektive pflege preis problem probleme
produkt projekt prozess punkt punkte qualität reaktion rolle rückmeldung sache sachen satz schritt
schritte schule schwierigkeit schwierigkeiten seite service sicht situation situationen sitzung
stelle stimmung stress stunde stunden tag tage team technik teil teilnahme termin thema themen
überlegung uhr umfeld umgang umgebung unternehmen unterschied unterschiede unterstützung urlaub
ursache ursachen veränderung verbesserung vergleich verhalten verständnis vertrauen vorgehen
vorgesetzte vorgesetzter vorschlag vorteil vorteile wahl warten wartezeit weg weise welt wert
wichtigkeit wirkung woche wochen wort worte wunsch wünsche zeit zeiten ziel ziele zufriedenheit
zugang zuhause zusammenarbeit zusammenhang
"""
SPANISH = """
a además al algo alguien algún alguna antes aparte así aunque cada casi como cómo con cuál cuáles
cuando cuándo cuánto cuánta cuántos cuántas de del desde después dice dígame dime donde dónde
durante e el ella ellas ellos en entonces era es esa ese eso esos esta está este esto estos fue ha
hace hacia han hasta hay hubo la las le les lo los más me mi mientras muy ni no nos o otra otro para
pero piensa podría podrías por porque pensando puede puedes pues que qué quién quiénes se según ser
si sí sin sobre su sus también te tiene tu tus u un una usted ustedes vosotros y ya yo
"""
FRENCH = """
à ainsi alors après au aucun aujourd aussi autre aux avant avec avez beaucoup ça car ce cela celle
celui ces cet cette ceux chaque chez comme comment d dans de depuis des dit dites donc dont du
durant elle elles en encore enfin ensuite entre est et étaient était êtes été être eu eux expliquez
fait faut il ils j je jusqu l la laquelle le lequel les leur leurs lors lorsque lorsqu lui m ma mais
me même mes moi mon n ne ni nos notre nous on ont ou où par parce parlez parmi pas pendant pensez
peut plus plutôt pour pourquoi pourriez pouvez puis qu quand que quel quelle quelles quels qui quoi
racontez s sa sans se selon ses si sinon soit son sont sous sur t ta tandis te tes toi ton tous tout
toute toutes très tu un une vers voici voilà vos votre vous y
"""
PORTUGUESE = """
a acha além algo alguém algum alguma ao aos apesar após aquela aquele aquilo as até cada com como
conforme conte conta da das de dela dele depois descreva desde do dos durante e é ela elas ele eles
em enquanto então entre era essa esse esta está este explique foi fora há isso isto já lhe mais mas
me mesmo meu minha muito na não nas nem no nos nós o onde os ou outra outro para pela pelo pensando
pode poderia por porém porque porquê pra qual quais quando quanto quanta quantos quantas que quê
quem sabe são se segundo sem sempre ser seu sua seus suas sim sobre só também tanto te tem teve toda
todo tudo um uma você vocês
"""

ENGLISH_NOUNS = """
answer answers beginning cause changes circumstances choice concern concerns consequence
consequences conversation day days decision decisions detail details difference differences
difficult difficulties difficulty effect example examples expectation expectations experience
experiences expression feeling feelings happened happening idea ideas impact important impression
improvement improvements instance interesting meaning moment moments month months moved necessary
normal occasion opinion particular particularly people person perspective possibilities possible
problem problems question questions reaction reason reasons recent recently relationship result
results scenario situation situations specific specifically story team thing things thought thoughts
time times understand understanding usually week weeks work year years
"""
SPANISH_NOUNS = """
aspecto cambio caso causa concreto concreta consecuencia consecuencias decisión detalle día días
diferencia dificultad dificultades ejemplo ejemplos experiencia experiencias expectativas forma
gente hecho idea importante importancia manera mejora mejoras mes meses momento momentos motivo
motivos normal ocasión opinión opciones parte particular persona personas posibilidad principal
problema problemas pregunta razón razones reacción resultado resultados semana semanas situación
situaciones sensación solución tiempo trabajo vez veces ventaja ventajas
"""
FRENCH_NOUNS = """
aspect cas cause changement choix circonstances conséquence conséquences concret concrète décision
détail détails différence difficulté difficultés exemple exemples expérience expériences effet façon
fait fois gens idée importance important impression inconvénient jour jours manière moment moments
mois normale particulier particulière particulièrement personne personnes point possibilité
principal principale problème problèmes question questions raison raisons réaction résultat
résultats ressenti semaine semaines sentiment situation situations solution temps travail
"""
PORTUGUESE_NOUNS = """
aspecto caso causa concreto concreta consequência consequências coisa coisas decisão detalhe
detalhes dia dias diferença dificuldade dificuldades exemplo exemplos experiência experiências
expectativas forma gente ideia importante importância impacto jeito maneira melhoria melhorias mês
meses momento momentos motivo motivos mudança normal ocasião opinião opções parte particular pessoa
pessoas possibilidade principal problema problemas pergunta razão razões reação resultado resultados
semana semanas sensação sentimento situação situações solução tempo trabalho vez vezes vantagem
vantagens
"""

_WORDS = frozenset(
    folded(
        f"{ENGLISH} {GERMAN} {SPANISH} {FRENCH} {PORTUGUESE}"
        f"{ENGLISH_NOUNS} {SPANISH_NOUNS} {FRENCH_NOUNS} {PORTUGUESE_NOUNS}"
    ).split()
)
_ENDINGS = ("", "e", "n", "en", "s", "es", "er", "ern", "se", "sen")
_NOUNS = frozenset(folded(GERMAN_NOUNS).split())


def is_common(word: str) -> bool:
    """Whether the folded word, or the German noun that has this ending, is in the lists."""
    return word in _WORDS or any(
        word.endswith(ending) and word.removesuffix(ending) in _NOUNS for ending in _ENDINGS
    )
