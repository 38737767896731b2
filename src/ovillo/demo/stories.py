"""The invented sessions: a shop's rounding error (Spanish), invoices (French), a port (Portuguese), a gateway (English).

Owns their words. One decision, one error and one change of code in each, so that there is something to find.
"""

from __future__ import annotations

from ovillo.demo.story import Compact, Delegate, Edit, Read, Run, Say, Story, Think, Turn

_SHOP = "/home/ana/proyectos/tienda"
_INVOICES = "/home/ana/projets/factures"
_GATEWAY = "/home/ana/projects/gateway"

_TOTALS = """def total_con_iva(lineas, iva=0.21):
    total = 0.0
    for linea in lineas:
        total += linea.precio * linea.cantidad
    return round(total * (1 + iva), 2)
"""

ROUNDING = Story(
    name="tienda-redondeo",
    title="Total con IVA un céntimo por encima",
    directory=_SHOP,
    branch="fix/redondeo-iva",
    days_ago=12,
    turns=(
        Turn(
            "El total del carrito sale a veces con un céntimo de más. ¿Puedes mirar total_con_iva?",
            (
                Say("Miro primero cómo se calcula."),
                Read("src/tienda/totales.py", _TOTALS),
                Run(
                    "pytest -q tests/test_totales.py",
                    "F.                                                    [100%]\n"
                    "FAILED tests/test_totales.py::test_tres_lineas - AssertionError: assert 36.31 == 36.3\n"
                    "1 failed, 1 passed in 0.04s",
                    1,
                ),
                Think("Suma en coma flotante y redondea solo al final: 10.00 * 1.21 tres veces no da 36.30 exacto."),
                Say(
                    "El error está en `total_con_iva`: suma con float y redondea una sola vez al final. "
                    "Propongo Decimal y redondear cada línea, que es como lo hace la factura. ¿Redondeo por línea o por total?"
                ),
            ),
        ),
        Turn(
            "Por línea, como en la factura. Y que sea ROUND_HALF_UP, el gestor lo pidió así.",
            (
                Say(
                    "Decisión: importes con Decimal, IVA redondeado por línea con ROUND_HALF_UP, porque la factura y "
                    "el gestor redondean así. Lo cambio."
                ),
                Edit(
                    "src/tienda/totales.py",
                    "    total = 0.0\n    for linea in lineas:\n        total += linea.precio * linea.cantidad\n"
                    "    return round(total * (1 + iva), 2)\n",
                    '    total = Decimal("0")\n    for linea in lineas:\n'
                    "        importe = linea.precio * linea.cantidad * (1 + iva)\n"
                    '        total += importe.quantize(Decimal("0.01"), ROUND_HALF_UP)\n    return total\n',
                ),
                Run(
                    "pytest -q tests/test_totales.py", "..                                    [100%]\n2 passed in 0.03s"
                ),
                Say("Las dos pruebas pasan. Falta `descuento_por_cupon`, que sigue con float."),
            ),
        ),
        Turn(
            "/compact",
            (
                Compact(
                    "Objetivo: el total del carrito salía un céntimo por encima. Decisión: Decimal y ROUND_HALF_UP por "
                    "línea en src/tienda/totales.py (total_con_iva). Pruebas en verde. Pendiente: descuento_por_cupon "
                    "sigue con float."
                ),
            ),
        ),
        Turn(
            "Ahora haz lo mismo con esa otra función, la del cupón.",
            (
                Edit(
                    "src/tienda/cupones.py",
                    "def descuento_por_cupon(total, porcentaje):\n    return round(total * porcentaje / 100, 2)\n",
                    "def descuento_por_cupon(total, porcentaje):\n"
                    '    return (total * porcentaje / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)\n',
                ),
                Run("pytest -q", "........................              [100%]\n24 passed in 0.41s"),
                Say("`descuento_por_cupon` usa ya Decimal y redondea igual. Las 24 pruebas pasan."),
            ),
        ),
    ),
)

STOCK = Story(
    name="tienda-stock",
    title="Reserva de stock al pagar",
    directory=_SHOP,
    branch="feature/reserva-stock",
    days_ago=3.2,
    turns=(
        Turn(
            "Dos clientes compraron la última unidad a la vez. ¿Cómo evitamos vender lo que no hay?",
            (
                Run(
                    "grep -rn 'stock' src/tienda --include=*.py | head",
                    "src/tienda/pago.py:31:    if producto.stock >= cantidad:\n"
                    "src/tienda/pago.py:32:        producto.stock -= cantidad\n"
                    "src/tienda/modelos.py:18:    stock: int",
                ),
                Think("Entre leer y restar hay una carrera. SELECT ... FOR UPDATE o una actualización condicional."),
                Say(
                    "Hay una carrera entre la lectura y la resta en `pagar`. Dos opciones: bloquear la fila con "
                    "SELECT ... FOR UPDATE, o una sola UPDATE condicional (`WHERE stock >= cantidad`). La segunda no "
                    "deja bloqueos largos."
                ),
            ),
        ),
        Turn(
            "La segunda. Pero si no hay stock quiero un error claro.",
            (
                Say("Decisión: UPDATE condicional y la excepción SinStock cuando no cambia ninguna fila."),
                Edit(
                    "src/tienda/pago.py",
                    "    if producto.stock >= cantidad:\n        producto.stock -= cantidad\n",
                    "    cambiadas = bd.ejecutar(\n"
                    '        "UPDATE producto SET stock = stock - ? WHERE id = ? AND stock >= ?", cantidad, id, cantidad\n'
                    "    )\n    if cambiadas == 0:\n        raise SinStock(id)\n",
                ),
                Run(
                    "pytest -q tests/test_pago.py",
                    "E   tienda.errores.SinStock: producto 7\n1 failed, 5 passed in 0.38s",
                    1,
                ),
                Say(
                    "La prueba que falla esperaba una venta sin existencias. Ajusto la prueba mañana contigo: ¿debe avisar al cliente?"
                ),
            ),
        ),
    ),
)

INVOICES = Story(
    name="factures-pdf",
    title="Accents perdus dans les factures PDF",
    directory=_INVOICES,
    branch="main",
    days_ago=8.5,
    turns=(
        Turn(
            "Les accents disparaissent dans les factures PDF : « Société Générale » devient « Soci?t? G?n?rale ».",
            (
                Run(
                    "sed -n 1,20p factures/pdf.py",
                    "from fpdf import FPDF\n\ndef nouvelle_page():\n    pdf = FPDF()\n    pdf.add_page()\n"
                    "    pdf.set_font('Helvetica', size=11)\n    return pdf",
                ),
                Run(
                    "python -m factures.essai",
                    'FPDFUnicodeEncodingException: Character "€" at index 12 in text is outside the range of characters '
                    'supported by the font used: "helvetica".',
                    1,
                ),
                Think(
                    "Les polices intégrées de PDF ne connaissent que latin-1. Il faut une police TrueType embarquée."
                ),
                Say("La police Helvetica intégrée ne couvre pas l'euro. Il faut embarquer une police TrueType."),
            ),
        ),
        Turn(
            "D'accord, laquelle ?",
            (
                Say("Décision : DejaVu Sans, libre et complète, embarquée dans le paquet ; pas de police du système."),
                Edit(
                    "factures/pdf.py",
                    "    pdf.add_page()\n    pdf.set_font('Helvetica', size=11)\n",
                    "    pdf.add_font('DejaVu', fname=POLICES / 'DejaVuSans.ttf')\n    pdf.add_page()\n"
                    "    pdf.set_font('DejaVu', size=11)\n",
                ),
                Run("python -m factures.essai", "facture-0042.pdf : 1 page, 38 Ko"),
                Say(
                    "La facture d'essai sort avec « Société Générale » et le signe euro. Le fichier passe de 9 à 38 Ko."
                ),
            ),
        ),
    ),
)

MIGRATION = Story(
    name="factures-porto",
    title="Importar clientes de Portugal",
    directory=_INVOICES,
    branch="feature/clientes-pt",
    days_ago=1.4,
    turns=(
        Turn(
            "Preciso importar os clientes portugueses do CSV. Essa função importar_clientes engasga com os acentos.",
            (
                Run("file clientes-pt.csv", "clientes-pt.csv: ISO-8859 text, with CRLF line terminators"),
                Run(
                    "python -m factures.importar clientes-pt.csv",
                    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe3 in position 214: invalid continuation byte",
                    1,
                ),
                Say("O arquivo está em Windows-1252, não em UTF-8."),
                Edit(
                    "factures/importar.py",
                    "    with open(caminho, encoding='utf-8') as arquivo:\n",
                    "    with open(caminho, encoding=codificacao_de(caminho)) as arquivo:\n",
                ),
                Run("python -m factures.importar clientes-pt.csv", "312 clientes importados, 0 recusados"),
                Say(
                    "Decisão: detectar a codificação (UTF-8 primeiro, depois Windows-1252) em `codificacao_de`. "
                    "312 clientes importados."
                ),
            ),
        ),
        Turn(
            "Ótimo. E o NIF, validamos?",
            (Say("Ainda não: `validar_nif` fica para a próxima sessão, com o dígito de controle."),),
        ),
    ),
)

_CALLERS = Story(
    name="gateway-callers",
    title="Find callers of allow() (@explore subagent)",
    directory=_GATEWAY,
    branch="main",
    days_ago=6,
    turns=(
        Turn(
            "Find every caller of RateLimiter.allow and say whether it runs inside a request.",
            (
                Run(
                    "rg -n 'allow\\(' src",
                    "src/middleware.ts:22:  if (!(await limiter.allow(key))) return tooMany(res)\n"
                    "src/jobs/mailer.ts:41:  await limiter.allow('mail')",
                ),
                Say("Two callers: src/middleware.ts:22 (every request) and src/jobs/mailer.ts:41 (a background job)."),
            ),
        ),
    ),
)

LIMITER = Story(
    name="gateway-limiter",
    title="Rate limiter lets bursts through",
    directory=_GATEWAY,
    branch="main",
    days_ago=6,
    turns=(
        Turn(
            "Clients get 429 in waves, and right after each minute a burst goes through. What is wrong with the rate limiter?",
            (
                Read(
                    "src/limiter.ts",
                    "export class RateLimiter {\n  async allow(key: string) {\n    const window = Math.floor(Date.now() / 60000)\n"
                    "    const count = await redis.incr(`rl:${key}:${window}`)\n    return count <= 100\n  }\n}\n",
                ),
                Think("Fixed window: 100 at 0:59 and 100 more at 1:00. A token bucket smooths it."),
                Delegate(
                    "Find callers of allow()",
                    _CALLERS,
                    "Two callers: src/middleware.ts:22 (every request) and src/jobs/mailer.ts:41 (a background job).",
                ),
                Say(
                    "It is a fixed window: 100 requests at the end of one minute and 100 more at the start of the next. "
                    "I see two ways: a sliding log (exact, memory grows) or a token bucket (constant memory, allows small bursts)."
                ),
            ),
        ),
        Turn(
            "Token bucket. Keep it in Redis, we run three replicas.",
            (
                Say(
                    "Decision: token bucket in Redis with one Lua script, so that check and take are one step across the three "
                    "replicas; 100 tokens, refilled at 1.67 per second. The sliding log was rejected for its memory."
                ),
                Edit(
                    "src/limiter.ts",
                    "    const window = Math.floor(Date.now() / 60000)\n    const count = await redis.incr(`rl:${key}:${window}`)\n"
                    "    return count <= 100\n",
                    "    const [taken] = await redis.eval(TAKE_TOKEN, 1, `rl:${key}`, CAPACITY, REFILL, Date.now())\n"
                    "    return taken === 1\n",
                ),
                Run("npm test -- limiter", " PASS  test/limiter.test.ts (4 tests)\n"),
                Say(
                    "Done, the four limiter tests pass. The mailer job shares the bucket `rl:mail`, so a mail storm no "
                    "longer starves requests."
                ),
            ),
        ),
    ),
    todos=(
        ("Replace the fixed window by a token bucket", "completed"),
        ("Expose the remaining tokens in X-RateLimit-Remaining", "in_progress"),
        ("Load test with three replicas", "pending"),
    ),
)

FLAKY = Story(
    name="gateway-flaky",
    title="Flaky test_login_expires",
    directory=_GATEWAY,
    branch="fix/flaky-login",
    days_ago=0.3,
    turns=(
        Turn(
            "test_login_expires fails about once in twenty runs on CI. Why?",
            (
                Run(
                    "for i in $(seq 20); do npm test -- login 2>&1 | tail -1; done | sort | uniq -c",
                    "     19  PASS  test/login.test.ts\n"
                    "      1  FAIL  test/login.test.ts > login expires > AssertionError: expected 401, got 200",
                    1,
                ),
                Think("It sleeps 1000 ms and the token lives 1 s: equal, so the timer resolution decides."),
                Say(
                    "The token lives one second and the test sleeps one second: the timer's resolution decides. The "
                    "clock should be injected."
                ),
                Edit(
                    "src/login.ts",
                    "export function isExpired(token: Token) {\n  return Date.now() > token.expires\n",
                    "export function isExpired(token: Token, now: () => number = Date.now) {\n  return now() > token.expires\n",
                ),
                Run("npm test -- login", " PASS  test/login.test.ts (6 tests)\n"),
                Say("isExpired takes a clock now; the test moves it instead of sleeping. 200 runs without a failure."),
            ),
        ),
    ),
)

CLAUDE_CODE = (ROUNDING, STOCK)
CODEX = (INVOICES, MIGRATION)
OPENCODE = (LIMITER, FLAKY)
