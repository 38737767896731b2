"""Requests as people type them, each with the type of work it asks for. Written beside detection; two of them failed at
first and led to a fix.

Owns the sentences only.
"""

from __future__ import annotations

from ovillo.model.records import SessionType as T

ASKED: tuple[tuple[str, T], ...] = (
    ("Add a dark mode switch to the settings page", T.FEATURE),
    ("Implement pagination for the orders endpoint, please", T.FEATURE),
    ("We need an export to CSV in the admin area. Create the endpoint and the button.", T.FEATURE),
    ("The login page crashes when the password contains an ampersand", T.BUGFIX),
    ("hi! can you fix the flaky test in test_scheduler.py?", T.BUGFIX),
    ("Why does the nightly import fail with KeyError: 'sku'?", T.BUGFIX),
    ("Review the changes on this branch and look for race conditions", T.REVIEW),
    ("Please review pull request 88", T.REVIEW),
    ("Refactor the payment module: it mixes HTTP and business rules", T.REFACTOR),
    ("Rename getUser to fetchUser everywhere", T.REFACTOR),
    ("Split utils.py into several modules without changing behaviour", T.REFACTOR),
    ("What does the retry decorator do?", T.GENERAL),
    ("Explain how the cache works", T.GENERAL),
    ("Añade un filtro por fecha al listado de facturas", T.FEATURE),
    ("Quiero poder exportar los informes a PDF", T.FEATURE),
    ("Hola, la aplicación se cuelga al abrir un pedido sin líneas", T.BUGFIX),
    ("Arregla el error 500 al guardar un cliente", T.BUGFIX),
    ("Revisa el pull request de Marta y dime qué mejorarías", T.REVIEW),
    ("Refactoriza la clase Pedido, hace demasiadas cosas", T.REFACTOR),
    ("Renombra la tabla clientes a contactos", T.REFACTOR),
    ("¿Para qué sirve el archivo docker-compose?", T.GENERAL),
    ("Ajoute une page de statistiques au tableau de bord", T.FEATURE),
    ("Bonjour, pourrais-tu implémenter la connexion par carte ?", T.FEATURE),
    ("Le calcul de la TVA ne marche plus depuis hier", T.BUGFIX),
    ("Corrige l'erreur de segmentation dans parser.c", T.BUGFIX),
    ("Fais une revue de code de la branche paiement", T.REVIEW),
    ("Renomme la classe Client en Customer partout", T.REFACTOR),
    ("Découpe ce fichier en plusieurs modules", T.REFACTOR),
    ("À quoi sert ce script ?", T.GENERAL),
    ("Adiciona um campo de telefone ao formulário", T.FEATURE),
    ("Crie uma tela de relatórios mensais", T.FEATURE),
    ("O botão de salvar não funciona no Firefox", T.BUGFIX),
    ("Por favor, corrige o erro de divisão por zero em media.py", T.BUGFIX),
    ("Faça uma revisão de código do meu branch", T.REVIEW),
    ("Refatore o serviço de e-mail, está muito acoplado", T.REFACTOR),
    ("Renomeia a função calc para calcular_juros", T.REFACTOR),
    ("Como funciona a fila de mensagens?", T.GENERAL),
)
