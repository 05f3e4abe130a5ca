"""Sessions with good follow-ups and a private context of everyday words, in the six languages of
the rules, and words of these contexts that a respondent may ask a model for.
"""

from typing import NamedTuple


class Session(NamedTuple):
    """A form with its private context; of each step the question, the answer and the follow-up."""

    context: str
    steps: tuple[tuple[str, str, str], ...]


SESSIONS: dict[str, tuple[Session, ...]] = {
    "en": (
        Session(
            "People leave our nursing team after about a year. We think it is the weekend rota "
            "and that nobody listens to new staff. The hospital may merge two wards next spring. "
            "Ask for concrete moments and what a manager could have done.",
            (
                (
                    "Why did you leave the job?",
                    "The shifts changed all the time and I never knew when I was off.",
                    "Can you tell me about one time when a shift changed at the last minute?",
                ),
                (
                    "How did you feel about your manager?",
                    "Mostly fine, but she was never around.",
                    "When did you most notice that she was not around?",
                ),
                (
                    "What would have made you stay?",
                    "More say in my hours.",
                    "What would having more say have looked like in a normal week?",
                ),
                (
                    "How was the start?",
                    "Nobody showed me anything. I felt lost.",
                    "What did you do on the days when you felt lost?",
                ),
                (
                    "What do you do now?",
                    "I work in a small clinic, it is calmer.",
                    "What makes the clinic calmer for you?",
                ),
                (
                    "Anything else?",
                    "I miss my colleagues.",
                    "What do you miss most about them?",
                ),
            ),
        ),
        Session(
            "Our bakery lost regulars since prices went up in May. We plan to drop the rye bread "
            "and to open later on Mondays. Find out what people buy, how often they come, and "
            "whether the queue in the morning bothers them.",
            (
                (
                    "How often do you come to us?",
                    "Less than before.",
                    "What changed, so that you come less often?",
                ),
                (
                    "What do you like here?",
                    "The smell and the people at the counter.",
                    "Could you describe a visit that you remember well?",
                ),
                (
                    "What annoys you?",
                    "The waiting in the morning, I have to catch a bus.",
                    "How long do you usually wait before you have to leave for the bus?",
                ),
                (
                    "What do you usually take?",
                    "Two rolls and a coffee.",
                    "What makes you decide for these?",
                ),
                (
                    "Where else do you go?",
                    "The supermarket, it is on my way.",
                    "What do you get there that you do not get from us?",
                ),
            ),
        ),
        Session(
            "Churn is 14 % for small teams. We believe the new import is too hard and that the "
            "price is no problem. The next release brings shared folders, do not mention it. Ask "
            "what they tried and who helped them.",
            (
                (
                    "What were you trying to do when you got stuck?",
                    "Get our old files in. It failed three times.",
                    "What happened each time it failed?",
                ),
                (
                    "How did you solve it?",
                    "I gave up and did it by hand.",
                    "How much time did doing it by hand take you?",
                ),
                (
                    "Would you recommend us?",
                    "Maybe, it depends.",
                    "What does it depend on for you?",
                ),
                (
                    "What is missing?",
                    "Better search and something to work together.",
                    "Which of these two matters more to you, and why?",
                ),
            ),
        ),
        Session(
            "The museum wants more families on weekdays. Ticket prices stay, but the audio guide "
            "and the café may close. Visitors complained about signs and toilets on the second "
            "floor. We want to learn what children remember, how long they stay and why they do "
            "not return. The board doubts that the dinosaur hall is worth its costs.",
            (
                (
                    "What brought you here today?",
                    "Rain, and the kids were bored.",
                    "What did you hope the kids would get out of the visit?",
                ),
                (
                    "What did your children like?",
                    "The big skeleton, they would not leave it.",
                    "What did they do or say when they stood in front of the skeleton?",
                ),
                (
                    "What was difficult?",
                    "Finding anything. We walked in circles.",
                    "Where did you get lost, and how did you find your way again?",
                ),
                (
                    "How was the guide?",
                    "We did not use it, too complicated for small ones.",
                    "What would have made it simple enough for small children?",
                ),
                (
                    "Will you come back?",
                    "Maybe in winter.",
                    "What would have to happen for you to come back sooner?",
                ),
                (
                    "Anything else?",
                    "A place to sit would be nice.",
                    "When during your visit did you most wish for a place to sit?",
                ),
            ),
        ),
        Session(
            "Gym members cancel in February. Trainers say that new members never get a plan; the "
            "manager says it is the contract. Showers are being repaired until June. The chain is"
            " thinking of a cheaper morning membership. Ask what a usual visit is like and who "
            "they train with.",
            (
                (
                    "How often do you train?",
                    "Twice a week, less in winter.",
                    "What keeps you from coming in winter?",
                ),
                (
                    "How did your first weeks go?",
                    "I had no idea what to do with the machines.",
                    "Who, if anyone, showed you how to use them?",
                ),
                (
                    "What made you think of leaving?",
                    "The crowd after work. You wait for everything.",
                    "Can you walk me through your last evening visit?",
                ),
                (
                    "What would you change?",
                    "More classes, a friendlier desk.",
                    "Tell me about a time when the desk was not friendly?",
                ),
            ),
        ),
    ),
    "de": (
        Session(
            "Viele verlassen das Pflegeteam nach einem Jahr. Wir vermuten, dass es am Dienstplan "
            "liegt und dass neue Leute nicht gehört werden. Vielleicht werden im Frühjahr zwei "
            "Stationen zusammengelegt. Frag nach konkreten Momenten und danach, was die Leitung "
            "hätte tun können.",
            (
                (
                    "Warum haben Sie gekündigt?",
                    "Die Schichten wurden dauernd geändert, ich wusste nie, wann ich frei habe.",
                    "Können Sie von einem Tag erzählen, an dem eine Schicht kurzfristig geändert "
                    "wurde?",
                ),
                (
                    "Wie war Ihre Vorgesetzte?",
                    "Eigentlich gut, aber sie war nie da.",
                    "Wann haben Sie besonders gemerkt, dass sie nicht da war?",
                ),
                (
                    "Was hätte Sie gehalten?",
                    "Mehr Mitsprache bei den Zeiten.",
                    "Wie hätte diese Mitsprache im Alltag ausgesehen?",
                ),
                (
                    "Wie war der Anfang?",
                    "Niemand hat mir etwas gezeigt. Ich war verloren.",
                    "Was haben Sie an solchen Tagen gemacht?",
                ),
                (
                    "Was machen Sie jetzt?",
                    "Ich arbeite in einer kleinen Praxis, da ist es ruhiger.",
                    "Was macht die Praxis für Sie ruhiger?",
                ),
                (
                    "Möchten Sie noch etwas sagen?",
                    "Die Kolleginnen fehlen mir.",
                    "Was fehlt Ihnen am meisten, wenn Sie an sie denken?",
                ),
            ),
        ),
        Session(
            "Seit der Preiserhöhung im Mai kommen weniger Stammkunden in die Bäckerei. Wir wollen"
            " das Roggenbrot streichen und montags später öffnen. Wichtig ist, was die Leute "
            "kaufen, wie oft sie kommen und ob die Schlange am Morgen stört.",
            (
                (
                    "Wie oft kommen Sie zu uns?",
                    "Seltener als früher.",
                    "Was hat sich geändert, dass Sie seltener kommen?",
                ),
                (
                    "Was gefällt Ihnen?",
                    "Der Geruch und die Leute hinter der Theke.",
                    "Können Sie einen Besuch beschreiben, an den Sie sich gut erinnern?",
                ),
                (
                    "Was stört Sie?",
                    "Das Warten, ich muss zum Bus.",
                    "Wie lange warten Sie normalerweise, bevor Sie zum Bus müssen?",
                ),
                (
                    "Was nehmen Sie meistens?",
                    "Zwei Brötchen und einen Kaffee.",
                    "Was gibt dabei für Sie den Ausschlag?",
                ),
                (
                    "Wohin gehen Sie sonst?",
                    "In den Supermarkt, der liegt auf dem Weg.",
                    "Was bekommen Sie dort, was Sie bei uns nicht bekommen?",
                ),
            ),
        ),
        Session(
            "14 % der kleinen Teams kündigen. Wir glauben, dass der neue Import zu schwierig ist "
            "und der Preis kein Problem. Die nächste Version bringt gemeinsame Ordner, das bitte "
            "nicht erwähnen. Frag, was sie versucht haben und wer ihnen geholfen hat.",
            (
                (
                    "Was wollten Sie tun, als es nicht weiterging?",
                    "Unsere alten Dateien einlesen. Es brach dreimal ab.",
                    "Was ist jedes Mal passiert, wenn es abbrach?",
                ),
                (
                    "Wie haben Sie es gelöst?",
                    "Ich habe aufgegeben und alles von Hand gemacht.",
                    "Wie viel Zeit hat das von Hand gekostet?",
                ),
                (
                    "Würden Sie uns empfehlen?",
                    "Vielleicht, kommt darauf an.",
                    "Worauf kommt es für Sie an?",
                ),
                (
                    "Was fehlt Ihnen?",
                    "Eine bessere Suche und etwas, um zusammen zu arbeiten.",
                    "Was von beidem ist Ihnen wichtiger, und warum?",
                ),
            ),
        ),
        Session(
            "Das Museum möchte unter der Woche mehr Familien. Die Eintrittspreise bleiben, aber "
            "der Audioguide und das Café werden vielleicht geschlossen. Besucher beschweren sich "
            "über Schilder und Toiletten im zweiten Stock. Wir wollen wissen, woran sich Kinder "
            "erinnern, wie lange sie bleiben und warum sie nicht wiederkommen.",
            (
                (
                    "Was hat Sie heute hergeführt?",
                    "Regen, und den Kindern war langweilig.",
                    "Was haben Sie sich für die Kinder von dem Tag erhofft?",
                ),
                (
                    "Was hat Ihren Kindern gefallen?",
                    "Das große Skelett, da wollten sie nicht weg.",
                    "Was haben sie gesagt, als sie vor dem Skelett standen?",
                ),
                (
                    "Was war schwierig?",
                    "Etwas zu finden. Wir liefen im Kreis.",
                    "Wie haben Sie den Weg dann doch gefunden?",
                ),
                (
                    "Kommen Sie wieder?",
                    "Vielleicht im Winter.",
                    "Was müsste passieren, damit Sie früher wiederkommen?",
                ),
                (
                    "Sonst noch etwas?",
                    "Ein Platz zum Sitzen wäre schön.",
                    "Wann hätten Sie sich am liebsten hingesetzt?",
                ),
            ),
        ),
        Session(
            "Mitglieder kündigen im Februar. Die Trainer sagen, dass neue Mitglieder nie einen "
            "Plan bekommen, die Leitung sagt, es liegt am Vertrag. Die Duschen werden bis Juni "
            "repariert. Frag, wie ein üblicher Besuch aussieht und mit wem sie trainieren.",
            (
                (
                    "Wie oft trainieren Sie?",
                    "Zweimal die Woche, im Winter weniger.",
                    "Was hält Sie im Winter davon ab?",
                ),
                (
                    "Wie waren die ersten Wochen?",
                    "Ich wusste nicht, was ich mit den Geräten machen soll.",
                    "Wer hat Ihnen die Geräte gezeigt, falls jemand es getan hat?",
                ),
                (
                    "Warum wollten Sie aufhören?",
                    "Nach der Arbeit ist es zu voll, man wartet auf alles.",
                    "Wie lief Ihr letzter Abend dort ab?",
                ),
            ),
        ),
    ),
    "es": (
        Session(
            "La gente deja el equipo de enfermería después de un año. Creemos que es por los "
            "turnos de fin de semana y porque nadie escucha a los nuevos. Quizá se unan dos "
            "plantas en primavera. Pregunta por momentos concretos y por lo que podría haber "
            "hecho la jefa.",
            (
                (
                    "¿Por qué dejó el trabajo?",
                    "Los horarios cambiaban siempre y nunca sabía cuándo descansaba.",
                    "¿Puede contarme una vez en que le cambiaron el horario a última hora?",
                ),
                (
                    "¿Cómo era su responsable?",
                    "Bien, pero nunca estaba.",
                    "¿Cuándo notó más que no estaba?",
                ),
                (
                    "¿Qué le habría hecho quedarse?",
                    "Decidir más sobre mis horas.",
                    "¿Cómo habría sido eso en una semana normal?",
                ),
                (
                    "¿Cómo fue el comienzo?",
                    "Nadie me enseñó nada. Me sentí perdida.",
                    "¿Qué hacía los días en que se sentía perdida?",
                ),
                (
                    "¿Qué hace ahora?",
                    "Trabajo en una clínica pequeña, es más tranquilo.",
                    "¿Qué hace que la clínica sea más tranquila para usted?",
                ),
            ),
        ),
        Session(
            "La panadería pierde clientes desde que subieron los precios en mayo. Queremos quitar"
            " el pan de centeno y abrir más tarde los lunes. Interesa qué compra la gente, cada "
            "cuánto viene y si la cola de la mañana molesta.",
            (
                (
                    "¿Cada cuánto viene?",
                    "Menos que antes.",
                    "¿Qué ha cambiado para que venga menos?",
                ),
                (
                    "¿Qué le gusta?",
                    "El olor y las personas del mostrador.",
                    "¿Podría describir una visita que recuerde bien?",
                ),
                (
                    "¿Qué le molesta?",
                    "La espera, tengo que coger el autobús.",
                    "¿Cuánto tiempo suele esperar antes de salir hacia el autobús?",
                ),
                (
                    "¿Adónde va si no?",
                    "Al supermercado, me queda de camino.",
                    "¿Qué encuentra allí que aquí no encuentra?",
                ),
            ),
        ),
        Session(
            "El museo quiere más familias entre semana. El precio de la entrada no cambia, pero "
            "quizá cierren la audioguía y la cafetería. Hubo quejas por los carteles y los baños "
            "del segundo piso. Queremos saber qué recuerdan los niños, cuánto tiempo se quedan y "
            "por qué no vuelven.",
            (
                (
                    "¿Qué le trajo hoy?",
                    "La lluvia, y los niños se aburrían.",
                    "¿Qué esperaba que los niños sacaran de la visita?",
                ),
                (
                    "¿Qué les gustó a sus hijos?",
                    "El esqueleto grande, no querían irse.",
                    "¿Qué decían cuando estaban delante del esqueleto?",
                ),
                (
                    "¿Qué fue difícil?",
                    "Encontrar algo. Dábamos vueltas.",
                    "¿Cómo encontraron al final el camino?",
                ),
                (
                    "¿Volverá?",
                    "Tal vez en invierno.",
                    "¿Qué tendría que pasar para que volviera antes?",
                ),
                (
                    "¿Algo más?",
                    "Un sitio para sentarse estaría bien.",
                    "¿En qué momento echó más de menos un sitio para sentarse?",
                ),
            ),
        ),
    ),
    "fr": (
        Session(
            "Les gens quittent l'équipe de soins au bout d'un an. Nous pensons que c'est à cause "
            "du planning du week-end et que personne n'écoute les nouveaux. Deux services seront "
            "peut-être réunis au printemps. Demande des moments concrets et ce que la cheffe "
            "aurait pu faire.",
            (
                (
                    "Pourquoi avez-vous quitté ce poste ?",
                    "Les horaires changeaient sans arrêt, je ne savais jamais quand j'étais libre.",
                    "Pouvez-vous raconter une fois où un horaire a changé au dernier moment ?",
                ),
                (
                    "Comment était votre responsable ?",
                    "Bien, mais elle n'était jamais là.",
                    "Quand avez-vous le plus remarqué qu'elle n'était pas là ?",
                ),
                (
                    "Qu'est-ce qui vous aurait fait rester ?",
                    "Décider un peu plus de mes heures.",
                    "À quoi cela aurait-il ressemblé dans une semaine normale ?",
                ),
                (
                    "Comment s'est passé le début ?",
                    "On ne m'a rien montré. J'étais perdue.",
                    "Que faisiez-vous les jours où vous étiez perdue ?",
                ),
                (
                    "Que faites-vous maintenant ?",
                    "Je travaille dans un petit cabinet, c'est plus calme.",
                    "Qu'est-ce qui rend ce cabinet plus calme pour vous ?",
                ),
            ),
        ),
        Session(
            "La boulangerie perd des habitués depuis la hausse des prix en mai. Nous voulons "
            "arrêter le pain de seigle et ouvrir plus tard le lundi. Il faut savoir ce que les "
            "gens achètent, s'ils viennent souvent et si la file du matin les gêne.",
            (
                (
                    "Venez-vous souvent ?",
                    "Moins qu'avant.",
                    "Qu'est-ce qui a changé pour que vous veniez moins ?",
                ),
                (
                    "Qu'aimez-vous ici ?",
                    "L'odeur et les personnes au comptoir.",
                    "Pourriez-vous décrire une visite dont vous vous souvenez bien ?",
                ),
                (
                    "Qu'est-ce qui vous agace ?",
                    "L'attente, je dois prendre mon bus.",
                    "Combien de temps attendez-vous d'habitude avant de partir vers le bus ?",
                ),
                (
                    "Où allez-vous sinon ?",
                    "Au supermarché, il est sur ma route.",
                    "Qu'y trouvez-vous que vous ne trouvez pas chez nous ?",
                ),
            ),
        ),
        Session(
            "Le musée veut plus de familles en semaine. Le prix du billet reste le même, mais "
            "l'audioguide et le café vont peut-être fermer. Des visiteurs se plaignent des "
            "panneaux et des toilettes au deuxième étage. Nous voulons savoir ce que les enfants "
            "retiennent, combien de temps ils restent et pourquoi ils ne reviennent pas.",
            (
                (
                    "Qu'est-ce qui vous amène aujourd'hui ?",
                    "La pluie, et les enfants s'ennuyaient.",
                    "Qu'espériez-vous que les enfants retirent de la visite ?",
                ),
                (
                    "Qu'est-ce qui a plu à vos enfants ?",
                    "Le grand squelette, ils ne voulaient plus partir.",
                    "Que disaient-ils devant le squelette ?",
                ),
                (
                    "Qu'est-ce qui était difficile ?",
                    "Trouver quelque chose. On tournait en rond.",
                    "Comment avez-vous fini par trouver votre chemin ?",
                ),
                (
                    "Reviendrez-vous ?",
                    "Peut-être en hiver.",
                    "Que faudrait-il pour que vous reveniez plus tôt ?",
                ),
                (
                    "Autre chose ?",
                    "Un endroit pour s'asseoir serait bien.",
                    "À quel moment cet endroit pour s'asseoir vous a-t-il le plus manqué ?",
                ),
            ),
        ),
    ),
    "pt-BR": (
        Session(
            "As pessoas saem da equipe de enfermagem depois de um ano. Achamos que é a escala do "
            "fim de semana e que ninguém ouve os novos. Talvez duas alas se juntem na primavera. "
            "Pergunte por momentos concretos e pelo que a chefe poderia ter feito.",
            (
                (
                    "Por que você saiu do emprego?",
                    "Os horários mudavam sempre e eu nunca sabia quando folgava.",
                    "Você pode contar uma vez em que o horário mudou em cima da hora?",
                ),
                (
                    "Como era a sua gerente?",
                    "Boa, mas nunca estava lá.",
                    "Quando você mais percebeu que ela não estava?",
                ),
                (
                    "O que teria feito você ficar?",
                    "Decidir mais sobre as minhas horas.",
                    "Como isso teria sido em uma semana normal?",
                ),
                (
                    "Como foi o começo?",
                    "Ninguém me mostrou nada. Me senti perdida.",
                    "O que você fazia nos dias em que se sentia perdida?",
                ),
                (
                    "O que você faz agora?",
                    "Trabalho em uma clínica pequena, é mais calmo.",
                    "O que torna a clínica mais calma para você?",
                ),
            ),
        ),
        Session(
            "A padaria perde clientes desde que os preços subiram em maio. Queremos tirar o pão "
            "de centeio e abrir mais tarde na segunda. Importa saber o que as pessoas compram, "
            "com que frequência vêm e se a fila da manhã incomoda.",
            (
                (
                    "Com que frequência você vem?",
                    "Menos do que antes.",
                    "O que mudou para você vir menos?",
                ),
                (
                    "Do que você gosta aqui?",
                    "Do cheiro e das pessoas do balcão.",
                    "Você poderia descrever uma visita de que se lembra bem?",
                ),
                (
                    "O que irrita você?",
                    "A espera, preciso pegar o ônibus.",
                    "Quanto tempo você costuma esperar antes de ir para o ônibus?",
                ),
                (
                    "Aonde mais você vai?",
                    "Ao supermercado, fica no caminho.",
                    "O que você encontra lá que não encontra aqui?",
                ),
            ),
        ),
        Session(
            "O museu quer mais famílias durante a semana. O preço do ingresso fica igual, mas "
            "talvez fechem o audioguia e o café. Visitantes reclamaram das placas e dos banheiros"
            " do segundo andar. Queremos saber do que as crianças se lembram, quanto tempo ficam "
            "e por que não voltam.",
            (
                (
                    "O que trouxe você hoje?",
                    "A chuva, e as crianças estavam entediadas.",
                    "O que você esperava que as crianças tirassem da visita?",
                ),
                (
                    "Do que seus filhos gostaram?",
                    "Do esqueleto grande, não queriam sair.",
                    "O que eles diziam na frente do esqueleto?",
                ),
                (
                    "O que foi difícil?",
                    "Achar alguma coisa. A gente andava em círculos.",
                    "Como vocês acabaram encontrando o caminho?",
                ),
                (
                    "Você vai voltar?",
                    "Talvez no inverno.",
                    "O que teria que acontecer para você voltar antes?",
                ),
                (
                    "Mais alguma coisa?",
                    "Um lugar para sentar seria bom.",
                    "Em que momento você mais sentiu falta de um lugar para sentar?",
                ),
            ),
        ),
    ),
    "ar": (
        Session(
            "يترك الناس فريق التمريض بعد سنة تقريبا. نعتقد أن السبب هو جدول نهاية الأسبوع وأن لا "
            "أحد يسمع الجدد. ربما يدمج قسمان في الربيع. اسأل عن لحظات محددة وعما كان يمكن للمديرة"
            " أن تفعله.",
            (
                (
                    "لماذا تركت العمل؟",
                    "كانت المواعيد تتغير دائما ولم أعرف متى أرتاح.",
                    "هل يمكنك أن تحكي عن مرة تغير فيها الموعد فجأة؟",
                ),
                (
                    "كيف كانت مديرتك؟",
                    "جيدة، لكنها لم تكن موجودة أبدا.",
                    "متى لاحظت أكثر أنها غير موجودة؟",
                ),
                (
                    "ما الذي كان سيجعلك تبقى؟",
                    "أن أقرر أكثر بشأن ساعاتي.",
                    "كيف كان سيبدو ذلك في أسبوع عادي؟",
                ),
                (
                    "كيف كانت البداية؟",
                    "لم يشرح لي أحد شيئا. شعرت بالضياع.",
                    "ماذا كنت تفعل في الأيام التي شعرت فيها بالضياع؟",
                ),
                (
                    "ماذا تعمل الآن؟",
                    "أعمل في عيادة صغيرة وهي أهدأ.",
                    "ما الذي يجعل العيادة أهدأ بالنسبة لك؟",
                ),
            ),
        ),
        Session(
            "يقل زبائن المخبز منذ ارتفعت الأسعار في مايو. نريد أن نوقف خبز الجاودار وأن نفتح "
            "متأخرين يوم الاثنين. المهم ماذا يشتري الناس وكم مرة يأتون وهل يزعجهم الطابور في "
            "الصباح.",
            (
                (
                    "كم مرة تأتي إلينا؟",
                    "أقل من قبل.",
                    "ما الذي تغير حتى صرت تأتي أقل؟",
                ),
                (
                    "ماذا يعجبك هنا؟",
                    "الرائحة والناس خلف المنضدة.",
                    "هل يمكنك أن تصف زيارة تتذكرها جيدا؟",
                ),
                (
                    "ما الذي يضايقك؟",
                    "الانتظار، علي أن ألحق بالحافلة.",
                    "كم تنتظر عادة قبل أن تذهب إلى الحافلة؟",
                ),
                (
                    "إلى أين تذهب أيضا؟",
                    "إلى السوق، هو في طريقي.",
                    "ماذا تجد هناك ولا تجده عندنا؟",
                ),
            ),
        ),
        Session(
            "يريد المتحف عائلات أكثر خلال الأسبوع. يبقى سعر التذكرة كما هو، لكن ربما يغلق الدليل "
            "الصوتي والمقهى. اشتكى الزوار من اللافتات والحمامات في الطابق الثاني. نريد أن نعرف "
            "ماذا يتذكر الأطفال وكم من الوقت يبقون ولماذا لا يعودون.",
            (
                (
                    "ما الذي جاء بك اليوم؟",
                    "المطر، وكان الأولاد يشعرون بالملل.",
                    "ماذا كنت تأمل أن يستفيد الأولاد من الزيارة؟",
                ),
                (
                    "ماذا أعجب أولادك؟",
                    "الهيكل العظمي الكبير، لم يريدوا أن يتركوه.",
                    "ماذا كانوا يقولون وهم أمام الهيكل؟",
                ),
                (
                    "ما الذي كان صعبا؟",
                    "أن نجد أي شيء. كنا ندور في دوائر.",
                    "كيف وجدتم الطريق في النهاية؟",
                ),
                (
                    "هل ستعود؟",
                    "ربما في الشتاء.",
                    "ما الذي يجب أن يحدث لتعود قبل ذلك؟",
                ),
                (
                    "شيء آخر؟",
                    "مكان للجلوس سيكون جيدا.",
                    "متى تمنيت أكثر أن تجد مكانا للجلوس؟",
                ),
            ),
        ),
    ),
}

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
