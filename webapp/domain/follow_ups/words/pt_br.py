"""Portuguese, as in Brazil."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList, WordParts

_KIN = (
    "marido/esposo/esposa/mulher/pai/papai/mãe/mamãe/pais/filho/filha/filhos/filhinho/filhinha"
    "/menino/menina/bebê/irmão/irmã/gêmeo/avô/avó/vô/vó/vovô/vovó/tio/tia/primo/prima/sobrinho"
    "/sobrinha/amigo/amiga/namorado/namorada/amigos/amigas/irmãos"
    "/noivo/noiva/companheiro/companheira/cachorro/gato"
)
_THING = (
    "impressora/carregador/celular/telefone/bateria/computador/notebook/pc/tablet/servidor/tela/app/aplicativo"
    "/página/busca/barra/botão/site/conexão/internet/wifi/roteador/teclado/mouse/aparelho/link"
)
_HARMLESS_CAUSE = "rir/fome/sede/sono/cansaço/tédio/medo/frio/calor/vontade/vergonha/saudade/rindo"
_ASKED = "$/isso/isto/essa/esse/esta/mais/nada/à/a/sobre/aqui/disso/dessa"

LEXICON = Lexicon(
    non_answers=WordList("""
        nada/não está ótimo/bom/tudo, nada/não tudo bem/certo/ótimo
        nada/não está tudo bem/certo/ótimo
        nada/nenhum/nenhuma/não/nao/nunca/ninguém/passo/pulo/nops/nop, n a, ns nr, não sei/lembro
        sei não, sei lá, não sei não, eu não sei, não sei dizer/responder/bem, não faço ideia
        não tenho ideia, não tenho a menor ideia, não faço a menor ideia, nem ideia, nenhuma ideia
        não tenho certeza, sem ideia/comentários/comentário/opinião/resposta, não me lembro
        não lembro
        n sei, não me vem nada, não me vem nada à/na cabeça/mente, não saberia dizer/responder
        não faço a mínima ideia
        não tenho nenhum/nenhuma/resposta, não que eu saiba/lembre, nada me ocorre
        nunca pensei nisso/sobre, nunca pensei sobre isso, acho que nada/não/nenhum/nenhuma
        não me recordo, não recordo, nada em especial/particular/específico, nada especial
        nada demais
        nada de mais
        não muito, na verdade não/nada, nada mesmo, não obrigado/obrigada, não se aplica, quem sabe
        não consigo lembrar/pensar/dizer, nada me vem, não me ocorre nada, não tenho opinião
        tanto faz
        difícil dizer, esqueci, nenhum motivo, nenhuma razão, não penso em nada
    """),
    flat=WordList("""
        nada/não está ótimo/bom/tudo, nada/não tudo bem/certo/ótimo
        nada/não está tudo bem/certo/ótimo
        nada/nenhum/nenhuma/não/nunca/ninguém/nop, n a, nada mesmo, na verdade não/nada, não muito
        não obrigado/obrigada, não se aplica, nada demais, nada de mais
    """),
    fillers=WordList("""
        desculpa/desculpe/sinceramente/honestamente/é/eh/hum/hmm/bom/bem/então/ah/obrigado/obrigada
        agora/mesmo/só/por/favor/ok/viu/né/poxa/eu/olha
    """),
    yes=WordList("""
        sim/claro/certamente/sempre/uso/uhum/aham/isso, sim claro, com certeza, claro que sim
        sim sempre, sim …, consigo/posso/tenho/gosto/faço/recomendo
        sim com certeza, sim quase/geralmente/normalmente/obrigado/obrigada, sim todos os dias
        é sim, sim uso/faço/tenho/sou, uso/faço/tenho sim
    """),
    no=WordList("""
        não/nunca/jamais/nop, ainda não, não ainda, claro que não, de jeito nenhum, não nunca
        na verdade não, infelizmente não, não infelizmente, nem um pouco, nem tanto
        consigo/posso/gosto/faço não
        não consigo/posso/gosto/faço, de forma alguma
        não uso/faço/tenho/sou, não não
    """),
    stops=WordList(f"""
        ^ mais nada, mais nada $, nada mais $, ^ nada mais
        nada a acrescentar/declarar/dizer/adicionar $/mais/aqui/obrigado/obrigada
        nada mais a acrescentar/dizer/declarar, mais nada a acrescentar/dizer/declarar, é isso $
        só isso $, ^ só isso mesmo/por/obrigado/obrigada, é só isso mesmo/por
        isso é tudo $/por/que, é tudo $, por hoje é só, é só $, ^ chega $
        já chega, ^ pare/para $, ^ basta $, pare de perguntar, para/parem/parar de perguntar
        vou pular, guardar pra/para mim, falei/disse o suficiente/bastante $, ^ chega disso
        coisa minha $, chega de perguntas
        sem mais perguntas, terminei $, acabei $, já respondi/disse/falei $/isso/acima/antes/tudo
        já foi dito
        prefiro não, preferia não, preferiria não
        não quero responder/dizer/falar/comentar/compartilhar {_ASKED}
        não quero continuar/seguir $/com/respondendo
        não quero mais $/falar/responder/perguntas/nada
        não desejo responder/falar/continuar {_ASKED}, assunto meu $, sem mais comentários
        posso pular
        não gostaria de
        não é da sua/tua conta, não te/lhe interessa, me deixa/deixe em paz, deixe me em paz
        próxima pergunta, ^ próxima $, vamos para a próxima, pula essa, pode pular, pessoal demais
        é pessoal $, não tenho mais o/nada, vamos/vou parar por, paro por aqui
        muito pessoal, é particular $, é privado $, não vou responder/dizer/falar, quero parar
    """),
    invitations=WordList(
        "mais alguma, algo mais, algum outro, alguma outra, outra coisa, acrescentar",
        "você/vocês tem/têm alguma/algum, há/existe algo/alguma/algum, tem alguma/algum",
    ),
    tender=WordList(f"""
        morreu/morreram/morrendo/morrer/morre/morto/morta/mortos/morte/mortes
        se afogou/afogaram, sepultamento/sepultado/sepultada
        óbito/velório/enterro/funeral/luto/viúva/viúvo/órfão/órfã
        homicídio/mataram/matou/matar/matarme
        longa doença, tapa na cara/minha, tapas/socos/cotovelada/cotoveladas
        fim à/na/a própria/minha vida
        não quero mais estar aqui, se eu morrer, era/é/foi/ficava/ficou violento, violento comigo
        tentou/quis me beijar
        pegou/apertou/passou no/nos/na meu/meus/minha peito/seios/bunda/coxa
        nunca/não acordou, descanse em paz, perda do/da/de … {_KIN}
        perder … {_KIN}
        perda do/da {_KIN}, cemitério/caixão/cinzas, não resistiu
        faca no meu/pescoço, se eu sumisse/morresse, a guerra
        partiu dessa, perdi/perdemos/perdeu {_KIN}
        perdi/perdemos/perdeu … {_KIN}, perdi/perdemos … … {_KIN}
        enterramos/enterrei/enterrar meu/minha/nosso/nossa/o/a, em coma, no coma
        não está mais entre/conosco, ele/ela/{_KIN} não está mais aqui, mais entre nós
        se foi $/há/faz
        nos deixou $/há/faz/em/muito/cedo
        {_KIN} partiu $/na/no/em/há/faz
        quero/queria/vontade morrer/sumir, vontade de morrer/sumir, quero/aguento mais viver
        sumir pra sempre
        não quero/queria viver/acordar/existir, vontade de viver, não aguento mais $
        cortou/cortei os pulsos, bombardearam nossa/minha/a, ameaçou matar/botar/queimar
        melhor sem mim
        desaparecer/sumir para sempre, acabar com tudo, acabar com a/minha vida, nunca ter nascido
        se eu não existisse/estivesse, sentido em/na/para viver/vida/levantar/nada/seguir
        me mutilo/mutilei/machuco/machucava/corto/cortava/cortei, me matar/cortar/machucar/ferir
        enforcar/enforcado/enforcada/enforcaram, se matou/enforcou/mataram/jogou
        tirar/tirou/tirado a/minha/própria vida
        tirar/tirou/tirado a própria/minha vida, tomei … remédios/comprimidos
        quimio/avc
        infarto/uti/hiv/hemodiálise/diálise/transplante, tenho ela $, com/tem/tenho/de aids
        diagnosticado/diagnosticada/diagnosticaram, diagnóstico de, meu diagnóstico
        médico/médicos/doutor deram/deu/dão, meses/semanas/dias de vida
        {_KIN} só tem … semanas/meses, pra/para que viver, anos de vida
        doença grave/terminal/incurável/degenerativa, gravemente/muito doente/ferido/ferida
        paciente/estado/fase terminal, cuidados paliativos, terapia intensiva, derrame cerebral
        ataque cardíaco, aborto espontâneo, perdi a gravidez, abortei/aborto
        depressão/deprimido/deprimida
        violência/agressão
        abusada/abusado/abusou/abusava/torturado/tortura
        baleado/baleada/sequestro/sequestrada/sequestrado
        me agride/espanca/ameaça/ameaçou/ameaçava/persegue/estuprou
        me deu um/uma soco/tapa/surra, facada/facadas, levou um tiro
        me empurrou/tranca/trancou/trancava, me segurou/forçou/agarrou à força
        quebrou meu/minha pulso/braço/nariz/costela/mão/perna/cara
        batia/bate na gente, batia/bate/bateu em mim/nós, mão em mim, mão na minha bunda/coxa/perna
        me bate/batia/bateu/estrangulou/enforcou/perseguia/violentou, apanhava/apanhei
        violentou/violentada/violentado
        assédio/assediada/assediado/assediou, abuso/assédio sexual, sexual/sexualmente/sexuais
        ameaça/ameaças de morte, medo do meu marido/pai/ex/namorado, medo dele, temo pela minha
        tentou me matar/enforcar/estrangular
    """),
    tender_parts=WordParts("""
        falec- enterra- assassin- esfaque- estrangul- estupr- espanc- automutil- feminicíd-
        agredi- leucemi- metásta- demênci- escleros-
    """),
    idioms=WordList(f"""
        {_THING}/carro morreu/morre/morto/morta, vocês mataram, mataram/matou a/o única/único
        {_THING} está/tá/já/ficou morreu/morto/morta
        morto/morta/mortos/morrendo/morrer/morri de {_HARMLESS_CAUSE}, de matar/morrer
        ponto/tempo/tempos/hora/horas/ângulo/peso morto/mortos/morta/mortas, link/links morto/mortos
        matar a/o/aula/tempo/saudade/saudades fome/sede/tempo/curiosidade/vontade/saudade/aula
        enterrado/enterrada no/na/em menu/newsletter/página/site, overdose de café/açúcar/cafeína
        morri por dentro, morrendo por/pra, é um tapa na cara, prefiro morrer, quase tive um infarto
        quase tenho um infarto
        matou minha/a/meu tarde/dia/manhã, é/era/foi uma tortura
        matar aula/tempo/saudade/saudades
        prazo/calor/stress/estresse/trânsito/preço nos/me matou
        matou a charada/fome, me corto nas/no/na/em, me bate uma/um/a/o, me bateu uma/um/a
        me persegue a/o, a guerra de preços
    """),
    hedges=WordList("""
        talvez/provavelmente/possivelmente/depende, quem sabe, acho que sim/não, pode ser
        eu suponho
        suponho que, mais ou menos, difícil dizer, não tenho certeza, a depender
    """),
    qualities=WordList("""
        bom/boa/bons/boas/ruim/ruins/bem/mal/ok/legal/legais/ótimo/ótima/melhor/pior/fácil/fáceis
        difícil
        difíceis/lento/lenta/lentos/lentas/rápido/rápida/caro/cara/caros/caras/barato/barata/chato
        chata
        irritante/frustrante/complicado/complicada/confuso/confusa/interessante/útil/inútil/prático
        prática/demorado/demorada/cansativo/cansativa/razoável/péssimo/péssima
    """),
    vague=WordList("""
        às vezes, as vezes, frequentemente/geralmente/normalmente/bastante/coisa/coisas/algo/vários
        várias/muitos/muitas/alguns/algumas/negócio/etc, um pouco, um monte, mais ou menos
        de vez em quando, e tal, meio que
    """),
    negations=WordList("não/nem/nunca/nada/sem/pouco/jamais"),
    reasons=WordList("""
        porque/pois/motivo/motivos/razão/razões/causa/portanto/senão/culpa, por que, já que
        uma vez que
        visto que, dado que, devido a/ao/à/às/aos, por isso, por causa, então eu/nós/a/o, para que
        graças a/ao/à, como resultado, de modo que, me/nos fez/levou/obrigou, a fim
    """),
    examples=WordList("""
        por exemplo, p ex, como quando, ontem/anteontem/recentemente, uma vez, um dia, outro dia
        da última vez, a última vez, na última vez, no mês/ano passado, mês/ano passado
        semana passada
        esta/essa/nesta semana, quando eu/meu/minha/nós/nosso/nossa/o/a/os/as
        há dois/três/um/uma/alguns
        faz dois/três/um/uma/alguns, segunda/terça/quarta/quinta/sexta feira, sábado/domingo
        janeiro/fevereiro/março/abril/junho/julho/agosto/setembro/outubro/novembro/dezembro, em maio
    """),
    contrasts=WordList(
        "mas/porém/contudo/entretanto/embora/exceto, no entanto, por outro lado, apesar de"
    ),
    joiners=WordList("e/também/além"),
    markers=WordList("também/ademais, além disso, além do mais, outra coisa, em segundo lugar"),
    facts=WordList("""
        ^ quanto/quanta/quantos/quantas/quando/onde/quem/aonde, ^ desde quando, ^ há/faz quanto
        ^ de/por onde, ^ com/de/para quem, ^ a que horas, ^ que horas, ^ com que frequência
        ^ qual a/sua idade, ^ em que/qual ano/mês/cidade/país/data/empresa
        ^ como você/vocês se chama
        ^ qual é o/a seu/sua nome/cargo/função/empresa/email/e-mail/idade/cidade/telefone/orçamento
        ^ qual é o/a seu/sua área/profissão/ocupação/sobrenome, ^ qual navegador/celular/aparelho
        ^ qual plano/versão/marca/idioma/idade/cidade
        ^ qual é/o/a seu/sua nome/cargo/função/empresa/email/e-mail/idade/cidade/telefone/orçamento
        ^ qual é/o/a seu/sua área
        ^ qual é o/a nome/cargo/data/prazo/endereço, ^ como se chama
    """),
    asks_more=WordList("""
        por que, por quê, porque
        descreva/descrever/explique/explicar/conte/contar/relate/diga/detalhe
        o que, como você/vocês faz/usa/decide/escolhe/lida/reage, como foi, em detalhes
        ^ quando a/o/eu/nós
    """),
    interrogatives=WordList("""
        ^ que/quem/como/quando/onde/aonde/qual/quais/quanto/quanta/quantos/quantas, por que, ^ o que
        ^ a/com/de/desde/em/para/sobre que/quem/quando/onde/qual/quais, ^ do/no/ao que
    """),
)
