// A service that speaks lines and adds numbers up, to be talked to by telnet or `nc -C localhost 7001`.
import DuplexSockets

let listener = try SocketListener.bind(.tcp(port: 7001))
try await listener.serve { socket in
    try await socket.write("A number on each line, and I add them up; an empty line ends.\r\n")
    var sum = 0.0
    while let line = try await socket.readLine(limit: 200, timeout: .seconds(60)), !line.isEmpty {
        guard let number = Double(line) else {
            try await socket.write("That is no number.\r\n")
            continue
        }
        sum += number
        try await socket.write("\(sum)\r\n")
    }
    try await socket.write("Goodbye.\r\n")
}
