"""Record a session from a program of your own, and find it again. Start ``ovillo serve`` first.

python examples/record_a_session.py
"""

from ovillo.client import NewMessage, Ovillo


def main() -> None:
    with Ovillo() as ovillo:
        session = ovillo.create_session("Refused cards", type="bugfix")
        ovillo.append(session.id, "user", "Which cards does the bank refuse?")
        ovillo.append_all(
            session.id,
            [
                NewMessage(role="assistant", content="Those without a Luhn check digit.", model="my-model"),
                NewMessage(role="user", content="Then validate the digit before charging."),
            ],
        )
        for message in ovillo.messages(session.id):
            print(f"{message.seq} {message.role}: {message.content}")
        for found in ovillo.search("Luhn check digit"):
            print(f"found in {found.title}: {found.hits[0].snippet}")


main()
