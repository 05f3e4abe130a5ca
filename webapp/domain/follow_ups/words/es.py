"""Spanish."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList, WordParts

_KIN = (
    "marido/esposo/esposa/mujer/padre/papá/padres/papás/madre/mamá/hijo/hija/hijos/hijito/hijita/niño"
    "/niña/bebé/hermano/hermana/hermanito/hermanita/gemelo/abuelo/abuela/abuelito/abuelita/abuelos"
    "/tío/tía/primo/prima/sobrino/sobrina/amigo/amiga/novio/novia/pareja/viejo/amigos/amigas/hermanos"
    "/perro/perrito/gato"
)
_THING = (
    "impresora/celular/móvil/teléfono/batería/pila/cargador/ordenador/compu/computadora/computador/portátil"
    "/tablet/servidor/pantalla/app/aplicación/página/búsqueda/barra/botón/web/conexión/internet"
    "/wifi/router/pc/laptop"
)
_HARMLESS_CAUSE = (
    "risa/hambre/sueño/sed/cansancio/aburrimiento/miedo/calor/frío/ganas/pena/vergüenza/nervios"
)
_ASKED = "$/eso/esto/esa/ese/esta/más/nada/a/de/del/sobre/aquí"

LEXICON = Lexicon(
    non_answers=WordList("""
        nada/no está/todo bien, nada/no todo está bien, nada/no está perfecto/genial
        nada todo perfecto
        nada/ninguno/ninguna/no/nop/paso/nunca/nadie/ns/nsnc/ningún, n a, ns nc, no sé/sabe/sabría
        no lo sé, no sé qué decir/poner, ni idea, no tengo idea, no tengo ni idea
        no estoy seguro/segura
        no recuerdo, no me acuerdo, no lo recuerdo, no se me ocurre nada
        no sabría decir/decirle/decirlo
        sin comentarios/opinión/respuesta, no tengo ninguno/ninguna/uno/respuesta, no que yo sepa
        que yo sepa no
        ni la más mínima/remota idea, ni la menor idea
        nunca lo pensé/pensado, nunca lo he pensado
        no lo he pensado
        no lo había pensado, nunca he pensado en eso/ello, nada en particular/especial
        nada en absoluto, no aplica
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
        sí lo soy/hago/uso/tengo, sí …
    """),
    no=WordList("""
        no/nop/nunca/jamás, todavía no, aún no, claro que no, para nada, no nunca, en absoluto
        no todavía/aún, la verdad no, en realidad no, lamentablemente no, no lamentablemente
        más bien no, no lo soy/hago/uso/tengo
    """),
    stops=WordList(f"""
        ^ no más, no más preguntas, eso es todo $/por/de/gracias, eso es todo lo que, es todo $
        eso sería todo $/por, nada más $, ^ nada más
        nada más que añadir/agregar/decir/aportar
        nada que añadir/agregar/decir/aportar $/más/aquí/gracias
        no tengo nada más, no tengo más que decir/añadir/agregar, ^ basta $/ya, ya basta
        basta ya $
        ya lo dije/expliqué/puse $/arriba/antes, ya te/le dije, ya lo he dicho/respondido/contestado
        ya respondí/contesté
        ya he respondido/contestado, prefiero no, preferiría no
        no quiero responder/contestar/decir/hablar/compartir {_ASKED}
        no quiero seguir/continuar $/con/respondiendo/contestando, asunto mío $, sin más comentarios
        puedo saltar/saltarla/saltármela, no quiero decirlo/contestarlo/responderlo/compartirlo
        no deseo responder {_ASKED}
        no deseo contestar/continuar {_ASKED}, no es asunto suyo/tuyo, no le/te importa
        déjeme/déjame en paz
        dejadme en paz, deje/deja/dejen/dejad de preguntar, ^ paso de, me lo guardo, guardármelo
        dije/dicho suficiente/bastante $
        no te/le/se lo voy, siguiente pregunta, ^ siguiente $, pasemos a otra
        otra pregunta $
        he terminado $, ya terminé $, ya está $, no le/te incumbe, es privado, asunto privado $
        es personal $
        no voy a responder/contestar/decir, demasiado personal, quiero parar/terminar
        dejémoslo ahí/así/aquí, lo dejo ahí/así/aquí, dejémoslo $
    """),
    invitations=WordList("""
        algo más, alguna otra, otra cosa, algún otro, añadir, agregar, tiene/tienes/tienen alguna
        tiene/tienes/tienen algún, tiene usted alguna/algún, hay algo/alguna/algún
    """),
    tender=WordList(f"""
        murió/murieron/muriendo/muere/morir/morirme/muerto/muerta/muertos/muerte/muertes
        difunto/funeral/entierro/velorio/luto/duelo/viudo
        viuda/enviudé/huérfano/huérfana/moribundo/homicidio
        mataron/matarme/matarse/quitarme/quitarse, se mató, muriera/muriese
        larga/penosa enfermedad, que en paz
        descanse en paz
        pérdida de … {_KIN}, perder a mi/su/nuestro/nuestra
        cementerio/ataúd/cenizas, lo/la mató/mataron, cuchillo en/al/contra el/mi cuello/cuello
        si yo no existiera/estuviera, la guerra, vale la pena vivir
        perdí/perdimos/perdió a mi/nuestro/nuestra/mis/nuestros/su/sus, en coma
        se ahogó/ahogaron, sepelio, perdí/perdimos a … {_KIN}, perdí/perdimos/perdió … {_KIN}
        lo/la enterramos/velamos
        lo/la perdimos $
        no está con/entre nosotros, él/ella/{_KIN} ya no está, enterramos/enterré a, despedir a mi
        {_KIN} se fue $/hace/para/la/el, se fue al cielo, {_KIN} se nos fue
        nos dejó $
        nos dejó para/hace/el/la/en/muy/un/demasiado, partió al cielo, {_KIN} partió
        quiero/quería/quisiera morirme/desaparecer/morir, no quiero/quería vivir/despertar
        no querer vivir, no quiero seguir viviendo/aquí, seguir viviendo
        ganas de vivir/morir/morirme
        acabar con todo, acabar con esta/este/el/mi agonía/sufrimiento/dolor
        perdido a mi/su/nuestro/nuestra
        acabar/terminar con mi/su vida, desaparecer para siempre, mejor sin mí
        quitó/quitarse/quitarme/quitado/quité la vida, se ahorcó/colgó
        se tiró de
        me autolesiono/autolesioné, hago/hacerme/hacía daño, me corto/cortaba, cortarme
        nunca haber nacido
        si/que no existiera/estuviera aquí, si no existiera, si yo no existiera/estuviera
        sentido a vivir
        sentido a levantarme/nada/seguir, sentido a la/mi vida
        tomé/tomó pastillas, corté/cortó las venas, bombardearon nuestra/la/mi
        amenazó/amenaza con matar/quemar, no puedo más $
        quimio/ictus
        infarto/vih/sida/sepsis/diálisis/trasplante
        tengo/tiene/tenía/con ela, diagnosticaron/diagnosticado/diagnosticada, mi/su diagnóstico
        encontraron/detectaron un bulto/nódulo
        doctor/doctores/médico/médicos le/me/nos dan/da/dieron/dio/daban
        meses/semanas/días de vida, le quedan … semanas/meses/días, para qué vivir/seguir
        enfermedad terminal/grave/incurable/degenerativa, gravemente/muy enfermo/enferma/herido
        enfermo/enferma/etapa/fase terminal, cuidados paliativos/intensivos, en la uci
        terapia intensiva
        depresión/deprimido/deprimida, aborto espontáneo
        perdí el embarazo
        aborté/abortar/aborto
        violación/violada/violado/violó/violador
        abusada/golpeó/golpeaba/golpeaban
        abusó/abusaron/abusaba/abusado de mí/ella/él/mis/su/una/nosotras
        torturado/tortura/balearon/balacera
        sicario
        me dio/dieron/da una/un golpiza/paliza/golpe/puñetazo/cachetada, puñalada/puñaladas
        la agresión, era/es/fue/puso/volvió/ponía violento, violento conmigo, besarme a
        intentó/quiso besarme, tocó/tocaba/agarró el/los/la/las pecho/pechos/nalgas/senos/culo
        nunca/no despertó, me encierra/encerraba/encerró, me agarró/forzó/obligó a la fuerza
        me empujó/ahorca, nos/le/la pegaba/golpeaba/pega, me rompió/quebró/fracturó el/la/un/una
        mano debajo/bajo/por de/la/mi, me metió mano
        me golpea/golpeó/golpean/pega/pegaba/pegó/pegaban/ahorcó/estrangula/amenaza/amenazó/amenazan
        me acosa/persigue/viola/maltrata/tocaba/toqueteó/manosearon/manoseó, me apuntaron/apuntó con
        me quiere/quería/intentó matar, acoso/acosó/acosaba/acosada/acosado
        agrede
        abuso/agresión sexual, sexual/sexuales/sexualmente, violencia, amenaza/amenazas de muerte
        miedo a/de mi marido/esposo/padre/pareja/ex/novio, le tengo miedo, miedo de él, temo por mi
    """),
    tender_parts=WordParts("""
        suicid- ectópic- fallec- enterra- asesin- apuñal- acuchill- ahorca- estrangul- autoles-
        secuestr- agredi- maltrat- feminicid- violaro- sobredos- escleros- esquizofr- leucem-
        linfom- quimioter- radioter- anorex- bulimi- demenci- paliativ- aneuris- amputa-
    """),
    idioms=WordList(f"""
        {_THING} murió/muere/muerto/muerta
        {_THING} se/ya/está/quedó murió/muere/muerto/muerta
        {_THING} se me murió, batería muerto/muerta
        muerto/muerta/muertos/muriendo/morir/morirme/morirse de {_HARMLESS_CAUSE}
        enlace/enlaces muerto/muertos, muriendo por
        punto/puntos/tiempo/tiempos/ángulo/hora/horas/zona/zonas muerto/muertos/muerta/muertas
        está de muerte, a muerte, pega el sol/un/una/la/con, me pega la/el/un
        murió/muere el/la {_THING}/coche/carro, mataron la/el única/único
        enterrado/enterrada en el/la menú/boletín/página/correo, sobredosis de café/azúcar/cafeína
        lento a morir, enterró el proyecto, morí por dentro, me mató la/el tarde/día/mañana
        es/era/fue/siendo una tortura
        golpeó lo/la/el/que, golpea lo/que/la
        corto el/las/al/en la/las
        quitarme/quitarse el/los/las/de/un, me corto el/las/al/en/cuando/a, prefiero morir
        da/dio un infarto al/cuando, duelo de
        {_THING} ya no está, la guerra de precios
        violación de/del datos/privacidad/contrato/términos
        me persigue la/el
    """),
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
        ^ cada cuánto
        ^ qué edad/hora/año/día/mes/navegador/versión/marca/talla/idioma/dispositivo/móvil
        ^ en qué año/mes/ciudad/país/fecha
        ^ cómo se llama
        ^ cuál/cuáles es/son su/tu/el/la nombre/cargo/puesto/rol/correo/edad/empresa/ciudad/país
        ^ cuál/cuáles es/son su/tu/el/la fecha/profesión/ocupación/oficio/apellido
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
