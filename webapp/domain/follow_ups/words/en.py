"""English."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList

LEXICON = Lexicon(
    non_answers=WordList("""
        no/nope/nothing/none/nah all good/fine/great/well
        no/nope/nothing it's/its fine/good/great/perfect
        no/nothing it is fine/good/great/perfect, no/nothing everything is/was fine/good/great
        na/none/nothing/no/nope/nil/nah/idk/dunno/pass/skip/unsure/nobody/never/whatever/forgot
        n a, i/we dunno, no comment/idea/clue/thanks/opinion/answer, not sure/really/much/applicable
        don't/dont know/remember/recall, i/we don't know/remember/recall, i/we do not know/remember
        i'm/im/am not sure, i am not sure, i have no idea/clue/opinion, i've no idea/clue, i forgot
        nothing really/much/special/particular/specific, nothing in particular/special/specific
        nothing comes to mind, nothing i can think of, not that i can think of, i have nothing
        can't/cannot say/remember/recall/think, i can't/cannot say/remember/recall
        can't think of anything/any/one, i can't/cannot think of anything/any/one, beats me
        i never had one/any, never had one/any, never happened, thanks/cheers, thank you
        no particular reason, no reason, who knows, nothing at all, none of them/those/these
    """),
    flat=WordList("""
        no/nope/nothing/none/nah all good/fine/great/well
        no/nope/nothing it's/its fine/good/great/perfect
        no/nothing it is fine/good/great/perfect, no/nothing everything is/was fine/good/great
        na/none/nothing/no/nope/nil/nah/nobody/never, n a, nothing really/much/at, nothing at all
        no thanks, not really/much/applicable, none of them/those/these, nothing special
        i never had one/any, never had one/any, never happened, thanks/cheers, thank you
    """),
    fillers=WordList("""
        sorry/really/honestly/um/uh/er/erm/hmm/hm/well/so/just/please/pls/lol/thanks/yet/actually
        ok/okay/oh/but/and/right/now/tbh/haha/here/at/moment/the/thank/you
    """),
    yes=WordList("""
        yes/yeah/yep/yup/yea/y/sure/definitely/absolutely/certainly, of course, yes of course
        yes i/we do/am/are/have/did/was/were/can/would, yes it is/does/did/was, i/we do/did/have
        yes every day, yes definitely/absolutely/sure/mostly/always/usually/mainly/partly
    """),
    no=WordList("""
        no/nope/nah/n/never/not, not at all, no not really/yet, not yet/really
        no i/we don't/didn't/haven't/can't/wouldn't/am, no i'm/im not, no i am not
        i/we don't/didn't, no unfortunately/thanks, unfortunately/sadly not/no
        no it isn't/doesn't/didn't/wasn't, no/nope never, of course not, definitely/certainly not
    """),
    stops=WordList("""
        no more $, no more questions/please, stop asking, ^ stop $, stop it $
        please stop $, ^ please stop $/asking/this/it
        that's/thats it/all/everything $, that is it/all/everything $, that's/thats all i know/have
        that's/thats all i can say/think, that is all i know/have/can, ^ that's/thats it/all
        ^ that is it/all, i'm/im/am done $, ^ i'm/im done here/answering/talking/now
        nothing else/more to add/say/report
        nothing else/more $, nothing to add, already answered/said/told, asked and answered
        don't/dont want/wish to answer/say/continue/talk/discuss/share
        do not want/wish to answer/say
        do not want to continue/talk/discuss/share, don't/dont feel like answering/sharing/talking
        don't/dont feel comfortable answering/sharing/talking/discussing
        not comfortable answering/sharing/talking/discussing, like to skip this/that/it $, ^ next $
        skip this/that one/question, ^ skip this/that/it $
        rather not, prefer not to, prefer not $, none of your business, not your business
        leave me alone, leave it there, move on $, ^ move on, let's/lets move on, ^ next question
        to the next question, next question please
        can we stop/move/skip, no further comment/comments, enough questions, ^ enough $
        won't/wont answer, will not answer, refuse to answer, mind your own business, end the survey
        too personal, that's/thats private, that is private, no thank you, ^ no thanks
    """),
    invitations=WordList("""
        anything/something else, any other/more/further, to add/share, add anything, what else
        do/did you have any, are/is/were there any/anything, have you any
    """),
    tender=WordList("""
        died/dies/dying/death/deaths/deceased/funeral/funerals/killed/murder/murdered/suicide
        passed away, passed on $, is/was/were/are/be/been dead, want to die, wanted to die
        wish i/he/she was dead
        lost my/our/his/her/the husband/wife/mother/mum/mom/father/dad/son/daughter/child/baby
        lost my/our/his/her brother/sister/friend/grandmother/grandfather/parents/partner/pregnancy
        lost my/our/his/her nan/gran/grandma/grandpa/granddad/aunt/uncle/cousin/twin/boyfriend
        lost my/our/his/her/both … mother/father/son/daughter/child/girl/boy/brother/sister/friend
        lost both parents, lost both my/our/his/her parents, lost both/him/her $
        lost him/her to/in/last/this, buried my/our/him/her
        husband/wife/mother/mum/mom/father/dad/son/daughter/brother/sister/partner passed
        nan/gran/grandma/grandpa/grandmother/grandfather/aunt/uncle passed
        wife/husband/father/mother/dad/mum/mom/partner/son/daughter has/had passed
        no longer with us, my/our late wife/husband/mother/father/brother/sister/son/daughter
        take my own life
        kill/killing/killed/hang/cut/cutting/hurt/hurting/harm/harming myself, cut/slit my wrists
        hanged/shot/drowned/poisoned himself/herself/themselves, thoughts of/about ending/dying
        better off dead, better off without me, reason to live, nothing to live for, worth living
        i can't go on $
        don't/dont want to live/exist/die, don't/dont want to be alive
        don't/dont want to be here anymore/any, don't/dont want to wake up, not want to live/exist
        self harm/harming/injury
        end/ending/took/take/taking my/his/her/their life, took his/her/their own life, end it all
        cancer/tumor/tumour/leukemia/leukaemia/chemo/dementia/alzheimer/alzheimer's/hospice
        metastasis/hiv/parkinson's/parkinsons/ptsd/icu, multiple sclerosis
        heart/kidney/liver failure
        stage four/4, months/weeks/days to live, weeks/months left to live, in a coma
        ectopic/abortion
        terminal/terminally ill/illness, seriously/gravely/critically/severely ill/injured
        heart attack, a stroke, intensive care, palliative care, life support, brain tumor/tumour
        stillborn/stillbirth/overdose/overdosed
        depression/depressed/anorexia/anorexic/bulimia/bulimic
        eating disorder, widow/widowed/widower
        raped/rape/molested/assaulted/abused/abuser/tortured/stabbed/strangled/shooting
        sexual/physical/domestic/child/emotional/verbal assault/abuse/violence, sexual harassment
        sexually/abusive/groped, harassed/harassing/harasses me, was/were/been harassed
        beat/beats/beaten/hit/hits/punched/slapped/choked me/her/him, beaten up/by, violent
        beat me up, touched me when/there, forced me to have
        i was/got attacked/mugged/robbed/shot/stalked
        brother/sister/son/daughter/father/mother/husband/wife/friend was shot, was bombed
        afraid/scared/terrified of my husband/wife/father/partner/boyfriend/ex/stepfather
        my brother/son/daughter/sister/father drowned
        threatened/threatens to kill, threatened me with, death threat/threats
        bereaved/bereavement/grieving
    """),
    tender_stems=("suicid", "chemotherap", "miscarr"),
    hedges=WordList("""
        maybe/perhaps/probably/possibly/depends/might, i guess/suppose, not sure, not certain
        i think so, hard/difficult to say/tell, more or less, could be, depending on
    """),
    qualities=WordList("""
        good/bad/fine/ok/okay/nice/great/better/worse/easy/hard/difficult/slow/fast/expensive/cheap
        annoying/frustrating/complicated/confusing/interesting/boring/weird/useful/useless/helpful
        terrible/awful/amazing/awesome/clunky/messy/stressful/painful/simple/convenient
    """),
    vague=WordList("""
        sometimes/often/usually/lots/somewhat/thing/things/stuff/something/many/few/several/various
        etc/whatever/occasionally, a lot/bit, kind/sort of, pretty good/bad, et cetera, and so on
    """),
    negations=WordList(
        "not/no/never/isn't/wasn't/aren't/weren't/don't/didn't/doesn't/nothing/hardly"
    ),
    reasons=WordList("""
        because/since/reason/reasons/therefore/cause/caused/causes/otherwise/cuz/coz/bc/cos/why
        so that, due/owing to, as a result, that's/thats why, that is why, in order to, thanks to
        led me/us to, so i/we/they/that/he/she/it, made me/us, given that, which means/meant
    """),
    examples=WordList("""
        for example/instance, such as, e.g., eg, e g, last …, yesterday/once, one time, one day
        when i/we/my/our/the, the other day, this morning/week/month/year, the first/second time
        monday/tuesday/wednesday/thursday/friday/saturday/sunday/january/february/april/june/july
        august/september/october/november/december, in may/march, like when, ago
    """),
    contrasts=WordList("but/however/although/though/except/whereas, on the other hand"),
    joiners=WordList("and/also/plus"),
    markers=WordList("""
        also/secondly/plus/furthermore/additionally/moreover, another thing, on top of that
        as well as, in addition
    """),
    facts=WordList("""
        ^ how many/much/old/long/often/far/soon, ^ when/where/who/which/whose, ^ what time
        ^ what year/month/day/date/age/city/country/version, ^ what's/whats your/the name/role/title
        ^ what is/are/was your/the name/names/email/e-mail/role/title/company/size/age/city/country
        ^ what is/are/was your/the phone/budget/url/link/date/deadline/position/department/industry
        ^ what is/are/was your/the … name/email/e-mail/role/title/size/zone/number/url/date/deadline
        ^ what is/are/was your/the … … name/title/number/date, what time zone
        ^ what's/whats your/the … name/email/e-mail/role/title/size/zone/number/url/date/deadline
        ^ what is/are/was the … of your team/company, ^ what is/are/was your/the address
    """),
    asks_more=WordList("""
        why/describe/explain/tell, how come, what happened, what went, talk us/me through
        walk us/me through, in detail, ^ when i/you/we/they/he/she/it/the/your, ^ where you/we/i
    """),
    yes_no_starts=WordList("""
        ^ do/does/did/are/is/was/were/have/has/had/can/could/would/will/should
        ^ don't/doesn't/didn't/aren't/isn't/wasn't/weren't/haven't/hasn't/can't/couldn't/wouldn't
        ^ won't/shouldn't/am/may/shall
    """),
)
