// A client that stays connected: to the first of two servers that can be had, subscribed anew on each connection.
import DuplexWebSockets

var policy = ReconnectPolicy.exponential(from: .milliseconds(250), to: .seconds(30)).restored(after: .seconds(60))
policy.attemptsPerURL = [3, 1]
policy.timeLimit = .seconds(600)

let client = ReconnectingWebSocket(
    "ws://localhost:8080/echo",
    "ws://localhost:8081/echo",
    policy: policy,
    onOpen: { socket in try await socket.send("subscribe prices") }
)
let watching = Task { for await change in client.stateChanges { print(change) } }
do {
    for try await message in client.messages { print(message) }
} catch {
    print("It isn't tried any more: \(error)")
}
await watching.value
