"""Keep the threads of a LangGraph graph: it goes on where it stopped, also in another process. Needs
``pip install langgraph 'ovillo[langgraph]'``; no model, and no server of ovillo has to run.

python examples/langgraph_saver.py
"""

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from ovillo.adapters.langgraph import OvilloSaver


def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Where a model would be asked."""
    return {"messages": [AIMessage(f"That was question {len(state['messages']) // 2 + 1} of this thread.")]}


def main() -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=OvilloSaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "support-42"}}
    for question in ("Which cards does the bank refuse?", "Since when?"):
        state = graph.invoke({"messages": [("user", question)]}, thread)
        print(state["messages"][-1].content)
    print("People read it with: ovillo session show langgraph:support-42")


main()
