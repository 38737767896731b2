"""The little words of each language: dropped from index and queries, and what tells languages apart.

Owns the lists (articles, pronouns, prepositions, auxiliaries of the grammar; no content words).
"""

from __future__ import annotations

STOP_WORDS: dict[str, frozenset[str]] = {
    "english": frozenset(
        "a about above after again against all am an and any are aren as at be because been before being below between both but"
        " by can could couldn did didn do does doesn doing don down during each few for from further had hadn has hasn have haven"
        " having he her here hers herself him himself his how i if in into is isn it its itself just ll me more most my myself"
        " no nor not now of off on once only or other our ours ourselves out over own re same she should shouldn so some such than"
        " that the their theirs them themselves then there these they this those through to too under until up ve very was wasn we"
        " were weren what when where which while who whom why will with won would wouldn you your yours yourself yourselves".split()
    ),
    "spanish": frozenset(
        "a al algo algunas algunos ante antes aquel aquella aquello aquellos así aún aunque cada como cómo con cual cuál cuales"
        " cuando cuándo cuanto de del desde donde dónde dos el él ella ellas ellos en entre era eran eres es esa esas ese eso esos"
        " esta está estaba estaban están estar estas este esto estos estoy fue fueron ha había habían han has hasta hay he la las"
        " le les lo los más me mi mí mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero"
        " poco por porque que qué quien quién quienes se sea ser si sí sido sin sobre son soy su sus también tan tanto te tener"
        " tengo ti tiene tienen todo todos tu tú tus un una unas uno unos y ya yo".split()
    ),
    "french": frozenset(
        "à ai aie ait alors au aucun aussi autre aux avait avant avec avez avoir c ce ceci cela celle celui ces cet cette ceux chez"
        " comme comment d dans de des donc dont du elle elles en encore entre es est et étaient était étant été être eu fait faut"
        " fut il ils j je jusque l la le les leur leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où"
        " par parce pas peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son"
        " sont sous suis sur t ta te tes toi ton tous tout toute très tu un une vers vos votre vous y".split()
    ),
    "portuguese": frozenset(
        "a à ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela dele deles depois do dos e é ela elas"
        " ele eles em entre era eram essa essas esse esses esta está estão estas estava este estes eu foi foram há isso isto já lhe"
        " mais mas me mesmo meu meus minha muito na não nas nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos"
        " por porque qual quando que quem são se sem ser será seu seus só sua suas também te tem têm tinha toda todo todos tu um"
        " uma umas uns você vocês".split()
    ),
    "german": frozenset(
        "aber alle allem allen aller alles als also am an ander auch auf aus bei bin bis bist da damit dann das dass dein dem den"
        " denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er"
        " es etwas euch für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre im in indem"
        " ins ist jede jedem jeden jeder jetzt kann kein keine können könnte man mein mich mir mit muss nach nicht nichts noch nun"
        " nur ob oder ohne sehr sein seine sich sie sind so solche soll sondern sonst über um und uns unser unter viel vom von vor"
        " war waren warum was weg weil weiter welche wenn wer werde werden wie wieder will wir wird wo wollen würde zu zum zur"
        " zwar zwischen".split()
    ),
    "italian": frozenset(
        "a abbiamo agli ai al alla alle allo anche avere c che chi ci coi col come con contro cui da dagli dai dal dalla dalle"
        " degli dei del dell della delle di dove e è ed era erano essere fa fra gli ha hai hanno ho i il in io l la le lei li lo"
        " loro lui ma mi mia mio ne negli nei nel nella nelle no noi non nostro o perché per più quale quando quella quelle quelli"
        " quello questa queste questi questo se sei si sia siamo sono sta su sua sue sugli sui sul sulla suo tra tu tua tuo tutti"
        " tutto un una uno vi voi".split()
    ),
}
