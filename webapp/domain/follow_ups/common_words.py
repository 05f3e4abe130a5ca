"""Words with which questions are asked anywhere: a capital makes none of them a name.

German writes every noun with a capital, so the nouns of interviews are listed. The other words open
questions, or stand for people. Names that are words too (Will, May) are left out."""

import re
from collections.abc import Iterator
from functools import cache

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

# What is said in any conversation about experience, in one form of several: `is_ordinary`
# recognises the others by their beginnings.
ENGLISH_TALK = """
ago almost although always another anybody anyone around asked away back bad became become begin
better big bit bring brought call called came change choose close coming dealt decide despite
different differently done down early easier easy end enough especially everybody everyone
everything exactly expect far felt few find found full gave get getting give go goes gone good got
great half handle hard harder hate hear heard help helpful hope hour hours itself keep kept knew
know known lack late later lead learn least leave led left less life little long longer look lose
lost lot love main making matter may mean meant mention miss missing must myself need never new next
nice night nobody none normally nothing notice old open order own part past place prefer put quite
rather react read ready real really remember rest right same saw second see seem seen several short
show side similar simple simply sometimes somewhere soon sooner sort spoke start stay stop stopped
sure take taken talk third three together tomorrow took towards tried true try trying turn turned
twice two typical typically unless useful usual very wait waiting want wanted whole wish worked
works worse write wrong wrote yesterday yet yourself
"""
GERMAN_TALK = """
ähnlich alt alte alten andere anderen anderes ändern änderte anfangen angefangen ansehen aufgehört
aufhören ausgesehen aussehen bald bedeuten bedeutet beginnen begonnen beide beidem beiden bekam
bekommen beobachtet beschrieben besonders besser beste besten bestimmte bestimmten bleiben blieb
brachte brauchen bringen dachte damals dann dort drei eben einfach einfacher einzige entscheiden
entschieden erinnern erklären erklärt erleben erlebt erste ersten erwarten erwartet falsch fand fast
fehlen fehlte fiel früh früher fühlen fühlten führen führte funden ganz geändert gebracht gebraucht
gedacht gefallen gefehlt gefiel gefühlt geführt gefunden gegangen gegeben gehalten gehen geholfen
gehört geht gekommen gelassen gemacht gemeint gemerkt genau genommen genug gerade gern gesagt
geschehen gesehen gesprochen gestern gestört getan gewählt gewartet gewesen gewünscht gewusst
gezeigt ging glauben gleich groß große größer gut gute guten half halten häufig helfen heute hier
hin hoffen hören immer irgendwann jedem jeden jedes jemand kam klein kleine kommen kommt konkret
konkrete konkreten kurz lag lang lange länger lassen lauf leicht letzte letzten letztes liegen ließ
machen macht machten manchmal meinen meist meisten meistens merken mochte möglich müssen nächste
nächsten nennen neu neue neuen niemals niemand nimmt normalen normalerweise oft passieren passiert
reagieren reagiert reden richtig sah schlecht schlechter schlimm schlimmsten schwer schwierig selbst
selten solche solchen soll sollen sollten spät später spielen sprach sprechen stand stehen stören
stört tat tun typisch typische üblich übrig umgehen ungefähr verändern verändert versuchen versucht
vorher vorstellen wählen weit weiter weniger wichtig wichtiger wichtigsten wieder wirklich wissen
wollen wollten worden wünschen wusste zeigen zuerst zuletzt zurück zwei
"""
SPANISH_TALK = """
acaba ahora alguno algunos allí ambos aquí ayer ayuda ayudar bastante bien buena bueno cambia
cambiar cerca comenzar conocer contar contarme creer cualquier dado debe debería decidió decidir
decir dejar describir diferente difícil dijo dio distinta distinto elegir eligió empezar encontrar
encuentra especialmente esperaba esperando esperar estaba estado estuvo exactamente explicar fácil
falta faltar general grande gustar haber había hablar habría hacer hacían haría hora horas hoy iba
igual intentar ir lado largo lejos llamar llegar lleva llevar luego malo mañana mayor mencionar
menos minutos misma mismo mucha mucho muchos nadie necesita necesitar ningún nota notar notó nueva
nuevo nunca ocurrió ocurrir pasa pasado pasar pasó pensar pequeña pequeño poco poder podía poner
prefiere primer primera primero proceso propio próxima pudo quedar quedarse querer quería quiere
realmente recordar recuerda recuerde referir saber sabía salir seguir sentía sentir sentirse sería
sido siempre siente siguiente sintió solía suele tal tan tarde temprano tener tenía terminar todas
todavía todos tomar traer tras tuvo última último única único usar varias ven venga venía venir ver
verdad viejo viene vio visto vivir volver
"""
FRENCH_TALK = """
aidé aider ailleurs aimé aimer aller allez ancien appeler arrivé arrivée arriver assez attendez
attendiez attendre attendu aurait auriez autant avait aviez besoin bien bientôt bon bonne changé
changer choisi choisir choses clair commencé commencer complètement concernant concrètement
connaître côté croire décidé décider décrire décririez déjà demain demander dernier deux devenir
devez deviez devoir différent différente difficile dire disiez donné donner ensemble envie espérer
essayé essayer éviter exactement expliquer facile faisait faisiez faites falloir fallu finir grand
grande habitude heure heures hier ici jamais laisser lieu loin long longtemps longue maintenant
manque manquer matin mauvais meilleur meilleure mettre mieux minutes moins monde nécessaire nouveau
nouvelle pareil parfois parlé parler partir passé passer pensé penser pensiez perdre petit petite
peu pire plaire plaît plusieurs pourrait pouvaient pouviez pouvoir précis précisément préférer
premier première prendre prenez presque pris prochain prochaine quitter raconter rarement réellement
remarqué remarquer rend rendre rendu ressemblé ressembler reste rester revenir rien savez saviez
savoir semblait sembler senti sentiez sentir serait seriez seul simple simplement soir souhaiter
souvenez souvenir souvenirs suite surtout tard tôt toujours travailler trois trop trouvé trouver
trouvez utile utiliser vécu venait venez veniez venir venu veut vivre voir voulez vouliez vouloir
voulu vu
"""
PORTUGUESE_TALK = """
achar acontecer aconteceu agora ainda ajuda ajudar alguns ali amanhã ambos aqui bastante bem boa bom
certo chamar chegar começar começou conseguir contar costuma costumava dado decidir decidiu deixar
demais descrever deu devagar deve dever deveria diferente difícil disse dizer dois duas encontra
encontrar entender época escolher especialmente esperar esperava esperou estava estavam esteve
exatamente explicar fácil falar falta faltar fazem fazer fazia fica ficar ficou geral gostar gostava
gostou grande hoje hora horas ia igual incomoda ir jamais juntos lado lembra lembrar levar levou
logo longe longo maior melhor mencionar menos mesma minutos mostrar mudar muita muitas muitos nenhum
ninguém notar notou nova novo nunca ocorreu ontem outros parece passar passou pensar pensava pensou
pequena pequeno perceber percebeu pior poder podia pouco precisa precisar precisava preferir
primeira primeiro próxima próximo quer querer queria realmente saber sabia saía sair sente sentia
sentir sentiu seria sido simples tal tampouco tarde tentar tentou ter terá teria tinha tirar tomar
torna tornar trazer última último únicas único usar vai velho ver vindo vinha vir viu viver voltar
"""
ARABIC = """
ما ماذا من متى أين كيف كم هل لماذا لم لن لا ليس ليست أي أية التي الذي الذين اللذين هذا هذه ذلك تلك
هؤلاء هو هي هم هن أنت أنتم أنا نحن إن إنها إنه أنهم كان كانت كانوا كنت يكون تكون سيكون ستكون كن في
على إلى عن مع عند عندما عندك عندنا منذ حتى قبل بعد بين خلال أثناء حول حسب ضد دون بدون غير سوى فقط
أيضا كذلك ثم أو أم لكن بل إذا لو لولا قد لقد سوف كل بعض جميع كلا أكثر أقل أكبر أصغر أفضل أسوأ أهم
جدا كثيرا قليلا كثير قليل دائما أبدا أحيانا عادة غالبا نادرا تقريبا حقا فعلا بالضبط خاصة مثل مثلا
مثال أمثلة هنا هناك الآن اليوم أمس غدا يوم أيام أسبوع شهر سنة عام ساعة ساعات دقيقة وقت أوقات مرة
مرات لحظة لحظات موقف مواقف حالة شيء أشياء أمر أمور طريقة شكل سبب أسباب نتيجة نتائج أثر تأثير فرق
مشكلة مشاكل حل فكرة رأي رأيك شعور تجربة تجارب سؤال جواب قرار اختيار خيار تغيير جزء جانب نوع معنى مهم
مهمة محدد محددة معين معينة عادي عادية مختلف مختلفة جديد جديدة قديم جيد جيدة جيدا سيء سيئة صعب صعبة
سهل سهلة كبير كبيرة صغير صغيرة طويل قصير أول آخر أخرى ثاني بداية نهاية ناس شخص أشخاص أحد أحدا نفس
نفسك شكرا يمكن يمكنك يمكننا يمكنكم تستطيع يجب تريد تود تحب يعجبك أعجبك تفضل تحتاج تظن تعتقد نعتقد
ترى تعرف تذكر تتذكر تتذكرها تصف تحكي تخبرنا تخبرني تقول قلت تشرح تفعل تفعله فعلت يفعل تعني يعني حدث
يحدث حصل جرى صار صرت أصبح شعرت تشعر لاحظت تلاحظ فكرت تفكر حاولت جربت قررت اخترت تختار غيرت تغير
يتغير تتغير جعل جعلك يجعل سيجعل يجعلك تأتي يأتي جاء ذهبت تذهب تجد تجده وجدت تنتظر انتظرت بقيت تبقى
يبقى تركت ساعد يساعد ساعدك عمل عملك تعمل أعمل يعمل يبدو تبدو سيبدو بدا تأخذ يأخذ أخذ أعطى بالنسبة لك
لي له لها لنا لكم به بها فيه فيها منه منها عليه عليها عنه عنها إليه إليها إليك إلينا معه معها لديك
لديه عما مما فيما حين حينها بسبب
"""

ENDING_MAX = 2  # letters in which forms of an ordinary word differ
STEM_MIN = 6  # letters that two of them share,
SHORT_STEM_MIN = 4  # or that one of them has before one of these endings
ENDINGS = frozenset(
    """
    s es ed d ly er r e n en em m t st te a o as os ez ee x
    ة ات ين ون ها ه ك نا ي
    """.split()  # noqa: SIM905
)
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


def is_ordinary(word: str) -> bool:
    """Whether the folded word is common, or one of any conversation, or an inflected one."""
    ordinary, beginnings = _ordinary()
    return (
        is_common(word)
        or any(form in ordinary for form in _without_endings(word))
        or not beginnings.isdisjoint(forms(word, STEM_MIN, ENDING_MAX))
    )


def _without_endings(word: str) -> Iterator[str]:
    yield word
    bare = _ARTICLE.sub("", word)
    yield bare
    for size in range(1, min(ENDING_MAX, len(bare) - SHORT_STEM_MIN) + 1):
        if bare[-size:] in ENDINGS:
            yield bare[:-size]


@cache
def _ordinary() -> tuple[frozenset[str], frozenset[str]]:
    """The words, and the beginnings of the long ones."""
    from webapp.domain.follow_ups.frequent_words import FREQUENT_WORDS

    talk = f"{ENGLISH_TALK} {GERMAN_TALK} {SPANISH_TALK} {FRENCH_TALK} {PORTUGUESE_TALK} {ARABIC}"
    frequent = " ".join(word for words in FREQUENT_WORDS.values() for word in words)
    every = frozenset((*folded(f"{talk} {frequent}").split(), *_WORDS, *_NOUNS))
    long = (word for word in every if len(word) >= STEM_MIN)
    return every, frozenset(form for word in long for form in forms(word, STEM_MIN, ENDING_MAX))


def forms(word: str, stem_min: int, ending_max: int = 3) -> set[str]:
    """Beginnings of a folded word; inflected forms of one word share one."""
    bare = _ARTICLE.sub("", word)
    shortest = min(len(bare), max(stem_min, len(bare) - ending_max))
    return {bare[:length] for length in range(shortest, len(bare) + 1)}


# what Arabic writes together with the word after it: and, then, with, as, for, the
_ARTICLE = re.compile(folded("^[وف]?(?:بال|كال|ال|لل)?(?=[ا-ي]{3})"))
