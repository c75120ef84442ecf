vim.filetype.add({ extension = { hyb = "hybrid" } })
