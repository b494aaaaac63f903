// A folder that clients write to: uploads that go on where they were cut off, and all of it as a zip.
import DuplexServer
import DuplexSharing

var options = FolderOptions()
options.allowedExtensions = ["jpg", "png"]
options.quota = .gibibytes(10)
options.access = { visitor in visitor.user == "mia" ? .readAndWrite : .read }
let folder = try SharedFolder("pictures", options: options)

var server = WebServer(port: 8080)
server.files("/pictures", folder: "pictures")
server.get("/pictures.zip") { [folder] _ in
    Response(type: "application/zip", body: try await folder.zip(of: [.root]))
}
server.group("/in", .basicAuth(realm: "pictures", accounts: ["mia": "secret"])) { inside in
    inside.resumableUploads("/uploads", folder: folder)
}

await server.runAndExit()
