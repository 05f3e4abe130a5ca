"""Spanish."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList

LEXICON = Lexicon(
    non_answers=WordList("""
        nada/no está/todo bien, nada/no todo está bien, nada/no está perfecto/genial
        nada todo perfecto
        nada/ninguno/ninguna/no/nop/paso/nunca/nadie/ns/nsnc/ningún, n a, ns nc, no sé/sabe/sabría
        no lo sé, no sé qué decir/poner, ni idea, no tengo idea, no tengo ni idea
        no estoy seguro/segura
        no recuerdo, no me acuerdo, no lo recuerdo, no se me ocurre nada
        no sabría decir/decirle/decirlo
        sin comentarios/opinión/respuesta, nada en particular/especial, nada en absoluto, no aplica
        no procede, no mucho, en realidad no, la verdad no, la verdad nada, no gracias, quién sabe
        no tengo opinión, ninguna idea/razón, ninguno en particular, no contesto, prefiero pasar
    """),
    flat=WordList("""
        nada/no está/todo bien, nada/no todo está bien, nada/no está perfecto/genial
        nada todo perfecto
        nada/ninguno/ninguna/no/nop/nunca/nadie, n a, nada en absoluto, en realidad no, no gracias
        no aplica, no mucho
    """),
    fillers=WordList("""
        pues/bueno/perdón/perdona/lo/siento/sinceramente/honestamente/eh/mmm/hmm/ahora/mismo/la
        verdad
        gracias/solo/por/favor/ok/ya/ay
    """),
    yes=WordList("""
        sí/si/sip/claro/efectivamente/siempre, claro que sí, por supuesto, sí claro, desde luego
        sí todos los días, sí casi/normalmente/generalmente/gracias, más bien sí
        sí lo soy/hago/uso/tengo
    """),
    no=WordList("""
        no/nop/nunca/jamás, todavía no, aún no, claro que no, para nada, no nunca, en absoluto
        no todavía/aún, la verdad no, en realidad no, lamentablemente no, no lamentablemente
        más bien no, no lo soy/hago/uso/tengo
    """),
    stops=WordList("""
        ^ no más, no más preguntas, eso es todo, es todo $, eso sería todo, nada más $, ^ nada más
        nada más que añadir/agregar/decir/aportar, nada que añadir/agregar/decir/aportar
        no tengo nada más, no tengo más que decir/añadir/agregar, ^ basta, ya basta, basta ya $
        ya lo dije/he dicho, ya lo he dicho/respondido/contestado, ya respondí/contesté
        ya he respondido/contestado, prefiero no, preferiría no, no quiero responder/contestar/decir
        no quiero hablar/seguir/continuar/decirlo/contestarlo/responderlo/compartirlo
        no deseo responder
        no deseo contestar/continuar, no es asunto suyo/tuyo, no le/te importa, déjeme/déjame en paz
        dejadme en paz, deje/deja de preguntar, siguiente pregunta, ^ siguiente $, pasemos a otra
        otra pregunta $
        he terminado $, ya terminé $, ya está $, no le/te incumbe, es privado, es personal $
        no voy a responder/contestar/decir, demasiado personal, quiero parar/terminar
    """),
    invitations=WordList("""
        algo más, alguna otra, otra cosa, algún otro, añadir, agregar, tiene/tienes/tienen alguna
        tiene/tienes/tienen algún, tiene usted alguna/algún, hay algo/alguna/algún
    """),
    tender=WordList("""
        murió/murieron/muere/morir/muerto/muerta/muertos/muerte/muertes/fallecido/fallecida/difunto
        fallecimiento/fallecer/falleció/fallecieron/funeral/entierro/velorio/asesinado/asesinada
        asesinato/asesinaron/homicidio/mataron/matarme/matarse/quitarme/quitarse/cáncer/tumor
        leucemia
        metástasis/quimioterapia/quimio/alzheimer/demencia/ictus/infarto/moribundo/luto/duelo
        depresión/deprimido/deprimida
        violación/violaron/violada/violado/violó/maltrato/maltrataba/maltratada/maltratador/abusó
        abusaron/abusada/abusos/golpeó/golpeaba/golpeaban/apuñalaron/apuñaló/torturado/tortura
        sobredosis
        perdí/perdimos a mi/nuestro/nuestra/mis/nuestros, perdí/perdimos al/el/mi/nuestro bebé/hijo
        en coma, en la uci, no está con/entre nosotros, seguir viviendo, me autolesiono/autolesioné
        me hago daño, me corto, me golpea/golpeó/golpean, quitó/quitarse/quitarme la vida
        acoso/acosó/acosaba/acosada/acosado/agredieron/agredió/agredida/agredido/parkinson/vih
        enterramos/enterré a mi, lo/la enterramos, se ahorcó, me apuntaron con, estrangularon
        nos dejó para, perdí al bebé, aborto espontáneo
        enfermedad terminal/grave, gravemente enfermo/enferma, enfermo/enferma terminal
        cuidados paliativos/intensivos, derrame cerebral, hacerme daño, cortarme
        autolesión/autolesiones
        abuso sexual, agresión sexual, violencia, me pega/pegaba/pegó/pegaban
        amenaza/amenazas de muerte
        no quiero vivir, quiero morirme, ganas de vivir, acabar con todo, anorexia/bulimia
    """),
    tender_stems=("suicid",),
    hedges=WordList("""
        quizá/quizás/talvez/posiblemente/probablemente/depende, tal vez, a lo mejor, supongo/imagino
        puede que, puede ser, más o menos, creo que sí/no, difícil de decir, no estoy seguro/segura
        según el/la
    """),
    qualities=WordList("""
        bueno/buena/buenos/buenas/malo/mala/malos/malas/bien/mal/regular/genial/mejor/peor/fácil
        fáciles
        difícil/difíciles/lento/lenta/lentos/lentas/rápido/rápida/rápidos/rápidas/caro/cara/caros
        caras
        barato/barata/molesto/molesta/frustrante/complicado/complicada/confuso/confusa/interesante
        aburrido/aburrida/útil/inútil/cómodo/cómoda/incómodo/incómoda/horrible/pesado/pesada/normal
    """),
    vague=WordList("""
        a veces, a menudo, normalmente/bastante/algo/cosa/cosas/varios/varias/muchos/muchas/algunos
        algunas/etc/etcétera, un poco, más o menos, de vez en cuando, y demás
    """),
    negations=WordList("no/ni/nunca/nada/tampoco/sin/poco"),
    reasons=WordList("""
        porque/pues/razón/razones/motivo/motivos/causa/culpa, ya que, puesto que, dado que
        debido a/al
        por eso, por lo que, por ello, así que, de modo que, para que, gracias a, como resultado
        es que
        por culpa, a causa, por lo tanto, por tanto, me/nos hizo/hace/llevó/obligó
    """),
    examples=WordList("""
        por ejemplo, tal/tales como, p ej, ayer/anteayer, una vez, un día, la última vez
        el otro día
        el año/mes/lunes/martes/miércoles/jueves/viernes/sábado/domingo pasado, la semana pasada
        esta semana/mañana, hace unos/dos/tres/un/una/poco/años/meses
        cuando mi/me/nos/yo/el/la/los/las
        lunes/martes/miércoles/jueves/viernes/sábado/domingo/enero/febrero/marzo/abril/junio/julio
        agosto/septiembre/octubre/noviembre/diciembre, en mayo
    """),
    contrasts=WordList(
        "pero/aunque/excepto/salvo, sin embargo, por otro lado, en cambio, no obstante"
    ),
    joiners=WordList("y/e/también/además"),
    markers=WordList("además/también, por otra parte, aparte de eso, otra cosa, en segundo lugar"),
    facts=WordList("""
        ^ cuánto/cuánta/cuántos/cuántas/cuándo/dónde/quién/quiénes, ^ desde/hasta/para cuándo
        ^ de/a/en dónde, ^ con/de/a quién, ^ desde/hace cuánto, ^ a qué hora, ^ con qué frecuencia
        ^ cada cuánto, ^ qué edad/hora/año/día/mes, ^ en qué año/mes/ciudad/país/fecha
        ^ cómo se llama
        ^ cuál/cuáles es/son su/tu/el/la nombre/cargo/puesto/rol/correo/edad/empresa/ciudad/país
        ^ cuál/cuáles es/son su/tu/el/la fecha
        ^ cuál/cuáles es/son su/tu/el/la teléfono/presupuesto/dirección/departamento/función
        ^ cómo te llamas, ^ cómo se llaman
    """),
    asks_more=WordList("""
        por qué
        describa/describe/descríbanos/explique/explica/explíquenos/explícanos/cuente/cuéntenos
        cuéntanos/cuenta/díganos/dinos/cómo fue, qué pasó, qué ocurrió, qué sucedió, en detalle
    """),
    interrogatives=WordList("""
        ^ qué/quién/quiénes/cómo/cuándo/dónde/cuál/cuáles/cuánto/cuánta/cuántos/cuántas, por qué
        ^ a/con/de/desde/en/hacia/hasta/para/según/sobre qué/quién/quiénes/cuándo/dónde/cuál/cuáles
    """),
)
