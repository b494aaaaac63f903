// placeholder removed by the first file
