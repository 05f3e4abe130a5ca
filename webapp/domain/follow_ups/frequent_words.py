"""Frequent words by which the language of a question is recognised.

The languages without phrases are here so that their words do not count as those of another one.
"""

FREQUENT_WORDS = {
    tag: frozenset(words.split())
    for tag, words in {
        "en": """
            the of and to in is was were are be been you your yours it its this that these those
            what
            which who whom when where why how do does did have has had can could would should
            will not
            with for from on at by as an or if but they them their there we our us i my me he
            she his
            her any anything some about most more other than made make use used using like tell
            please
            describe explain think feel ever often much many name feedback comments experience
            improve today currently best worst favourite favorite team did't don't isn't else added
        """,
        "es": """
            el la los las un una unos unas de del y o u que qué es son era fue está están ser
            estar ha
            han hay usted ustedes su sus tu tus te se le les lo me mi mis nos nuestro nuestra
            cómo cuál
            cuáles cuándo cuánto cuánta cuántos cuántas dónde quién por para porque con sin en
            al a si
            sí no más muy pero como cuando desde hasta sobre entre este esta esto ese esa eso
            algo nada
            usa utiliza gusta piensa cree opina describa cuéntenos díganos gustaría mejor peor
            equipo
            tiene puede hizo hace yo él ella ellos fueron nombre también y/o
        """,
        "de": """
            der die das den dem des ein eine einen einem einer eines und oder aber ist sind war
            waren
            wird werden wurde haben hat hatte hatten sein sie ihr ihre ihren ihrem ihnen du dein
            deine
            dir dich wir uns unser unsere ich mein meine mir mich er es man was wer wie wo wann
            warum
            wieso welche welcher welches welchen wofür womit wozu nicht kein keine mit von zu
            zum zur
            im in an am auf für bei nach aus über um als wenn dass ob auch noch mehr sehr bitte
            können
            könnten gefällt nutzen benutzen verwenden denken finden würden beschreiben erzählen
            heißen
            name rolle etwas beim seit durch gibt gab
        """,
        "fr": """
            le la les un une des du de et ou est sont était étaient été être avoir avez avons ont a
            vous votre vos tu ton ta tes nous notre nos je j mon ma mes il elle ils elles on ce cet
            cette ces que qu qui quoi quel quelle quels quelles où quand comment combien pourquoi ne
            n pas plus avec pour par sur dans en au aux d l c s si mais comme fait faire utilisez
            pensez décrivez expliquez racontez aimez vraiment très aussi quelque chose dernière
            pouvez pourriez souvent après avant depuis chez entre sans y à même
        """,
        "pt-BR": """
            o a os as um uma uns umas de do da dos das e ou que é são era foi está estão ser
            estar tem
            têm há você vocês seu sua seus suas te se lhe nos nosso nossa eu meu minha ele ela eles
            elas como qual quais quando quanto quanta quantos quantas onde quem por para porque com
            sem em no na nos nas ao à às aos pelo pela não sim mais muito mas desde até sobre entre
            este esta isto esse essa isso algo nada usa utiliza gosta pensa acha descreva conte diga
            gostaria mudaria mudou ferramentas alguma algum coisa quê achou equipe pode fez faz
            nome também fale
        """,
        "it": """
            il lo la i gli le un uno una di del della dei delle che è sono era erano e o ha
            hanno come
            cosa quale quali quando quanto quanti dove chi perché per con senza in nel nella al alla
            da dal si non più molto ma suo sua lei tu tuo tua ti mi mio mia ci noi voi questo questa
            quello fatto anche se su sul sulla piace piaciuto usa pensa c'è
        """,
        "ca": """
            el la els les un una de del dels i o que què és són era va ha han vostè com quin quina
            quan quant on qui per amb sense en al a si no més molt però aquest aquesta això seu seva
            li us ens fer fa perquè
        """,
        "nl": """
            de het een en of is zijn was waren heeft hebben had u uw je jij jouw we wij ons onze ik
            mijn hij zij ze wat wie hoe waar wanneer waarom welke welk niet geen met van voor in
            op aan
            bij naar uit over om als dat die dit er ook nog meer zeer kunt kun wordt werd denkt
            vindt
        """,
        "sv": """
            och att det som en ett är var vad hur när varför vem vilken vilket du din ditt dina
            dig ni
            er jag mig min vi oss vår på av för med till från den de inte om har hade kan skulle så
            finns mer mest tycker använder eller
        """,
        "da": """
            og at det som en et er var hvad hvordan hvornår hvorfor hvem hvilken hvilket du din dit
            dine dig jeg mig min vi os vores på af for med til fra den de ikke om har havde kan
            ville
            så mere mest synes bruger eller hva hvilke deg jeg
        """,
        "pl": """
            i w na z do że się nie jest są co jak kiedy gdzie dlaczego kto który która jaki
            jakie czy
            pan pani twój twoja ci dla od po przez o za ma być był była to te ten ta
        """,
        "cs": """
            a v na z do že se ne není je jsou co jak kdy kde proč kdo který která jaký jaké čí
            vás vám
            váš vaše pro od po o za má být byl byla to ten ta jste
        """,
        "tr": """
            ve bir bu için ne nasıl neden niçin kim nerede hangi kaç mi mı mu mü siz sizin size var
            yok ile daha çok en gibi olarak da de musunuz mısınız nedir
        """,
        "ro": """
            și de la un o care ce este sunt era cum când unde cine din pe cu pentru nu mai mult
            dumneavoastră ați vă tău ta îți dar sau în a ai
        """,
        "id": """
            apa yang dan di ke dari untuk dengan anda kamu bagaimana mengapa kenapa siapa kapan mana
            berapa adalah ini itu tidak atau pada saya kami sudah akan bisa
        """,
        "tl": """
            ang ng mga sa na ano bakit paano sino kailan saan po mo ka ko ba ito iyon para hindi
            ninyo
            inyong niyo iyong
        """,
        "vi": "của là và có bạn không gì như thế nào tại sao khi nào ai đâu những các một cho với",
        "fi": """
            ja on ei mitä mikä miten miksi milloin missä kuka sinun teidän se olet ovat oli että kun
            tai niin sinä te mielestäsi
        """,
        "hu": "a az és nem hogy mi mit miért hogyan mikor hol ki melyik ön van volt egy mennyi",
        "hr": "i u na je su što šta kako kada gdje gde zašto tko ko koji koja da ne se za od ste",
    }.items()
}

# Letters that other languages of the same script do not use, or hardly ever
TELLING_LETTERS = {
    tag: frozenset(letters)
    for tag, letters in {
        "es": "ñ¿¡",
        "de": "ß",
        "pt-BR": "ãõ",
        "fr": "œ",
        "sv": "å",
        "da": "ø",
        "pl": "łżśąęńź",
        "cs": "ěřůčš",
        "tr": "ğış",
        "ro": "ățș",
        "vi": "đươạảấầẩậắằặẹẻếềểệỉịọỏốồổộớờởợụủứừửự",
        "hu": "őű",
    }.items()
}
