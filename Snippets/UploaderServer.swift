// A folder in the browser: one page to look at files, upload, download, move and delete them.
import DuplexServer
import DuplexSharing

var options = FolderOptions()
options.allowedExtensions = ["jpg", "png", "pdf"]
options.fileSize = .gibibytes(1)
options.after = { operation in print("\(operation.kind): \(operation.path)") }
let folder = try SharedFolder("shared", options: options)

var page = UploaderOptions()
page.title = "Pictures of the party"
page.prologue = "Put yours here, and take what you like."

var server = WebServer(port: 8080)
server.uploader("/files", .basicAuth(realm: "files", accounts: ["mia": "secret"]), folder: folder, options: page)
// The same folder as a disk: changes appear on the page at once.
server.webDAV("/dav", .basicAuth(realm: "files", accounts: ["mia": "secret"]), folder: folder)

await server.runAndExit()
