// A client that stays connected, asks for prices, and reads them as values.
import DuplexFoundation
import DuplexWebSockets

struct Subscription: Codable, Sendable { var symbol: String }
struct Price: Codable, Sendable { var symbol: String, value: Double? }

let client = ReconnectingWebSocket(urls: ["ws://localhost:8080/echo"])
client.preamble { socket in
    let prices = TypedWebSocket<Price, Subscription>(socket, codec: .json())
    try await prices.send(Subscription(symbol: "ACME"))
}
let prices = TypedReconnectingWebSocket<Price, Subscription>(client, codec: .json())
for try await price in prices.messages {
    print(price.symbol, price.value.map { "\($0)" } ?? "unknown")
}
